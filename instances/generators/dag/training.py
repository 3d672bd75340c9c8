"""Training graphs with released memory from any forward graph: backward by reversal, outputs held while needed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.buffers import least_memory
from instances.dag.instance import NO_LIMIT, NOT_ALLOWED
from instances.dag.task_graph import dag_instance_from_graph
from instances.generators.family import loaded_family
from instances.parameters import check_integer, check_number

if TYPE_CHECKING:
    from instances.clusters.cluster import Cluster
    from instances.dag.instance import DagInstance


def training_step_of(forward: DagInstance, *, micro_batches: int = 1, backward_factor: float = 2.0) -> DagInstance:
    """Return one training step of a forward graph, with buffers and groups.

    Every task F(i) gets a backward task B(i), and every edge from i to h one from B(h) to B(i) with the same bytes.
    B(i) waits for F(i) and is in one group with it, because they share weights; so are the copies of all micro-batches,
    no order among which is imposed. What is held, a general rule for training graphs:

    * the output of F(i), as large as its largest edge, is a buffer of F(i) until B(i) and B(h) of all h that read it
      have ended, because gradients are computed from it;
    * the gradient that B(h) sends to B(i) is a buffer of B(h) until B(i) has ended.

    What a task occupies in the forward graph beyond its output counts as weights: F(i) of the first micro-batch keeps
    it for the whole schedule. A copy of an output on another GPU occupies nothing there, as in the DAG problem.

    Parameters
    ----------
    forward
        A graph without buffers and groups. Its jobs and memory limits stay.
    micro_batches
        Number of copies; durations and bytes are those of one.
    backward_factor
        Duration of B(i) over that of F(i) on every GPU, rounded up.

    Returns
    -------
    DagInstance
        Tasks by micro-batch, forward tasks before backward ones, both in the order of the forward graph.

    Raises
    ------
    TypeError, ValueError
        If a number is not of its kind or out of range, the graph has buffers or groups, or a task and what is held with
        it fit on no GPU.
    """
    micro_batches = check_integer("micro_batches", micro_batches, low=1)
    factor = check_number("backward_factor", backward_factor, low=0.0, high=1000.0)
    if forward.has_buffers:
        raise ValueError("forward: expected a graph without buffers and groups, got one with them.")
    n, edges, size = forward.num_tasks, forward.edges, forward.edge_bytes
    output = np.zeros(n, dtype=np.int64)
    np.maximum.at(output, edges[:, 0], size)
    readers: list[list[int]] = [[] for _ in range(n)]
    for tail, head in edges.tolist():
        readers[tail].append(head)
    tasks, none = np.arange(n), np.zeros(n, dtype=np.int64)
    backward = np.where(
        forward.durations == NOT_ALLOWED, NOT_ALLOWED, np.ceil(forward.durations * factor - 1e-9).astype(np.int64)
    )
    own_edges = np.vstack([edges, edges[:, ::-1] + n, np.column_stack([tasks, tasks + n])])
    own_bytes = np.concatenate([size, size, none])
    kept = [(task, int(output[task]), [task + n, *(head + n for head in readers[task])]) for task in range(n)]
    kept += [(head + n, data, [tail + n]) for (tail, head), data in zip(edges.tolist(), size.tolist(), strict=True)]
    kept = [each for each in kept if each[1]]
    starts = 2 * n * np.arange(micro_batches)
    released = [releasers for _, _, releasers in kept]
    weights = np.maximum(forward.task_memory - output, 0)
    suffixes = [f" #{batch}" if micro_batches > 1 else "" for batch in range(micro_batches)]
    return replace(
        forward,
        name=f"{forward.name}-training",
        durations=np.vstack([forward.durations, backward] * micro_batches),
        task_memory=np.concatenate([weights, *[none] * (2 * micro_batches - 1)]),
        job_of_task=np.tile(forward.job_of_task, 2 * micro_batches),
        edges=np.vstack([own_edges + start for start in starts]),
        edge_bytes=np.tile(own_bytes, micro_batches),
        task_names=tuple(
            f"{letter} {name}{suffix}" for suffix in suffixes for letter in "FB" for name in forward.task_names
        ),
        buffer_task=np.concatenate([np.array([task for task, _, _ in kept], dtype=np.int64) + s for s in starts]),
        buffer_bytes=np.tile(np.array([held for _, held, _ in kept], dtype=np.int64), micro_batches),
        buffer_releases=np.array(
            [
                (batch * len(kept) + number, releaser + start)
                for batch, start in enumerate(starts.tolist())
                for number, releasers in enumerate(released)
                for releaser in releasers
            ],
            dtype=np.int64,
        ).reshape(-1, 2),
        group_of_task=np.tile(tasks, 2 * micro_batches),
    )


def training(
    rng: np.random.Generator,
    *,
    tasks: int,
    cluster: Cluster | None = None,
    of: str = "transformer",
    micro_batches: int = 1,
    backward_factor: float = 2.0,
    limit: float | None = None,
) -> DagInstance:
    """Make a training step of a graph of another family, with outputs that are held until their last use.

    Parameters
    ----------
    rng
        Source of the forward graph and of its durations.
    tasks
        Requested number of tasks, forward and backward, over all micro-batches.
    cluster
        GPUs and links; default the preset ``mixed-4``.
    of
        Family of the forward graph, one of `FAMILIES`.
    micro_batches, backward_factor
        As in `training_step_of`.
    limit
        Memory of every GPU as a multiple of the most that a task, what is surely held with it and its share of the
        weights need; None for the GPUs' own memory. A schedule need not exist near 1.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range, or as `training_step_of`.
    """
    from instances.generators.dag.generate import DEFAULT_CLUSTER, FAMILIES

    count = check_integer("micro_batches", micro_batches, low=1)
    graph = loaded_family(FAMILIES, of, {})(rng, tasks=max(1, check_integer("tasks", tasks, low=1) // (2 * count)))
    cluster = parse_cluster(DEFAULT_CLUSTER) if cluster is None else cluster
    forward = dag_instance_from_graph(replace(graph, name=of), cluster, CostModel(memory_tightness=0.0), rng)
    made = training_step_of(forward, micro_batches=count, backward_factor=backward_factor)
    if limit is None:
        return replace(made, gpu_memory=np.array([kind.memory_bytes for kind in cluster.kinds], dtype=np.int64))
    limit = check_number("limit", limit, low=1.0)
    if not made.num_buffers:
        return replace(made, gpu_memory=np.full(made.num_gpus, NO_LIMIT))
    # Without limits only a task's own weights are sure to be with it; an equal share of all weights comes on top.
    share = -(-int(made.task_memory.sum()) // made.num_gpus) + int(made.task_memory.max(initial=0))
    return replace(made, gpu_memory=np.full(made.num_gpus, int(limit * (int(least_memory(made).max()) + share))))
