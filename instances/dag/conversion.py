"""DAG instances from a user's own numbers: seconds, or FLOPs, bytes and GB/s, or a NetworkX graph.

`DagInstance.from_lists` takes durations that are in ticks already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from instances.dag.instance import DagInstance
from instances.dag.task_graph import TaskGraph, dag_instance_from_graph
from instances.rounding import ticks_from_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import networkx as nx

    from instances.clusters.cluster import Cluster
    from instances.clusters.cost_model import CostModel


def dag_instance_from_seconds(
    seconds: Sequence[Sequence[float | None]],
    edges: Sequence[Sequence[int]] = (),
    *,
    tick_seconds: float,
    name: str = "instance",
    latency_seconds: Sequence[Sequence[float]] | float = 0.0,
    gb_per_second: Sequence[Sequence[float]] | float = 16.0,
    memory_bytes: Sequence[int] | None = None,
    gpu_memory_bytes: Sequence[int | None] | None = None,
    task_names: Sequence[str] | None = None,
    gpu_kinds: Sequence[str] | None = None,
    gpu_servers: Sequence[str] | None = None,
) -> DagInstance:
    """Make an instance from measured or assumed times; other arguments are as in `DagInstance.from_lists`.

    Parameters
    ----------
    seconds
        For each task its duration on each GPU in seconds; None where the GPU may not run it.
    edges
        ``(from, to, bytes)`` per edge.
    tick_seconds
        Length of a tick; durations are rounded to the nearest tick, positive ones to at least one, latencies up.
    latency_seconds, gb_per_second
        A matrix, or one number for all links; 1 GB is 10**9 bytes.
    memory_bytes, gpu_memory_bytes
        As `task_memory` and `gpu_memory` in `DagInstance.from_lists`.

    Raises
    ------
    TypeError, ValueError
        As `DagInstance`; also if a time is negative or longer than 2**53 ticks.

    Warns
    -----
    RoundingWarning
        If rounding moves a duration by more than 0.1 %.
    """
    num_gpus = len(seconds[0]) if len(seconds) else 1
    for task, row in enumerate(seconds):
        if len(row) != num_gpus:
            raise ValueError(f"tasks[{task}].durations: expected {num_gpus} entries, one per GPU, got {len(row)}.")
    ticks = ticks_from_seconds(
        np.array([[np.nan if value is None else value for value in row] for row in seconds], dtype=np.float64).reshape(
            len(seconds), num_gpus
        ),
        tick_seconds,
        place=lambda index: f"tasks[{index[0]}].durations[{index[1]}]",
    )
    links = (num_gpus, num_gpus)
    latency = np.ceil(np.broadcast_to(np.asarray(latency_seconds, dtype=np.float64), links) / tick_seconds - 1e-9)
    bandwidth = np.broadcast_to(np.asarray(gb_per_second, dtype=np.float64), links) * 1e9 * tick_seconds
    return DagInstance.from_lists(
        [[None if value < 0 else value for value in row] for row in ticks.tolist()],
        edges,
        name=name,
        tick_seconds=tick_seconds,
        task_memory=memory_bytes,
        gpu_memory=gpu_memory_bytes,
        latency=latency.astype(np.int64).tolist(),
        bytes_per_tick=bandwidth.tolist(),
        task_names=task_names,
        gpu_kinds=gpu_kinds,
        gpu_servers=gpu_servers,
        num_gpus=num_gpus,
    )


def dag_instance_from_work(
    flops: Sequence[float],
    moved_bytes: Sequence[float],
    edges: Sequence[tuple[int, int, int]],
    cluster: Cluster,
    cost: CostModel,
    *,
    name: str = "instance",
    memory_bytes: Sequence[int] | None = None,
    seed: int = 0,
    task_names: Sequence[str] | None = None,
) -> DagInstance:
    """Make an instance from FLOPs and bytes by the roofline of each GPU of a cluster.

    Parameters
    ----------
    edges
        ``(from, to, bytes)`` per edge.
    memory_bytes
        Bytes per task; default 0. The capacities are those of the GPUs.
    cost
        Tick, precision, efficiency and noise; ``CostModel(tick_seconds=1e-6, heterogeneity=0.0)`` is the bare roofline.
    seed
        Seed of the noise.

    Raises
    ------
    TypeError, ValueError
        As `DagInstance`.

    Warns
    -----
    RoundingWarning
        If rounding moves a duration by more than 0.1 %.
    """
    graph = TaskGraph(
        name=name,
        task_names=task_names or [f"t{task}" for task in range(len(flops))],
        flops=flops,
        moved_bytes=moved_bytes,
        memory_bytes=memory_bytes or [0] * len(flops),
        edges=edges,
    )
    return dag_instance_from_graph(graph, cluster, cost, np.random.default_rng(seed))


def dag_instance_from_networkx(graph: nx.DiGraph, **fields: Any) -> DagInstance:
    """Make an instance from a directed graph.

    Parameters
    ----------
    graph
        Node attributes: ``durations`` (ticks per GPU, None where not allowed; required), ``memory_bytes`` (default 0)
        and ``job`` (default 0). Edge attribute: ``bytes`` (default 0). Tasks are numbered in the order of the nodes and
        named after them.
    fields
        The remaining arguments of `DagInstance.from_lists`: GPUs, links, jobs, name, tick.

    Raises
    ------
    TypeError
        If the graph is not directed or has parallel edges.
    ValueError
        If a node has no durations, or as `DagInstance`.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.DiGraph()
    >>> graph.add_node("load", durations=[4, 4], memory_bytes=100)
    >>> graph.add_node("train", durations=[9, None])
    >>> graph.add_edge("load", "train", bytes=1000)
    >>> dag_instance_from_networkx(graph, gpu_memory=[500, 500], bytes_per_tick=100.0, name="two tasks")
    DagInstance('two tasks': 2 tasks, 1 edges, 1 job(s), 2 GPUs)
    """
    if not graph.is_directed() or graph.is_multigraph():
        raise TypeError(f"graph: expected a networkx.DiGraph, got {type(graph).__name__}.")
    task_of_node = {node: task for task, node in enumerate(graph.nodes)}
    for node, attributes in graph.nodes(data=True):
        if "durations" not in attributes:
            raise ValueError(f"node {node!r}: expected an attribute 'durations', got {sorted(attributes)}.")
    return DagInstance.from_lists(
        [attributes["durations"] for _, attributes in graph.nodes(data=True)],
        [
            (task_of_node[tail], task_of_node[head], attributes.get("bytes", 0))
            for tail, head, attributes in graph.edges(data=True)
        ],
        task_memory=[attributes.get("memory_bytes", 0) for _, attributes in graph.nodes(data=True)],
        job_of_task=[attributes.get("job", 0) for _, attributes in graph.nodes(data=True)],
        task_names=[str(node) for node in graph.nodes],
        **fields,
    )
