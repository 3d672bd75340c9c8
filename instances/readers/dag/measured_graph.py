"""A task graph with one measured time per task, and the model that puts it on GPUs of other kinds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from instances.clusters.cluster import LATENCY_INSIDE_SECONDS, Cluster, parse_cluster
from instances.clusters.cost_model import CostModel
from instances.clusters.gpu_kinds import gpu_kind
from instances.dag.pipeline import pipeline_instance
from instances.dag.task_graph import TaskGraph, dag_instance_from_graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


DEFAULT_CLUSTER = "mixed-4"
"""Preset that a graph is put on unless a cluster is given: four kinds of GPU, one of each."""

DEFAULT_REFERENCE_KIND = "V100-16GB"
"""The kind that measured times are taken to come from unless another is given; no public format states it."""

READER_COST = CostModel(heterogeneity=0.0, precision="fp32")
"""Default of the readers: no noise, so that times on the reference kind stay the measured ones."""

BALANCE_SPREAD = 0.5
"""Standard deviation of the logarithm of a task's balance between arithmetic and memory traffic. An assumption."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MeasuredGraph:
    """Tasks and edges with times that were measured on one kind of machine.

    Parameters
    ----------
    task_names
        One per task.
    seconds
        Measured time of each task.
    memory_bytes
        Memory that each task occupies for the whole schedule.
    edges
        ``(from, to, bytes)`` per edge.
    balance_of_task
        Tasks of equal number share one balance, such as a layer on all micro-batches; default one per task.
    job_of_task
        Job of each task; default one job.
    job_names, release_seconds
        One entry per job.
    """

    name: str
    task_names: Sequence[str]
    seconds: Sequence[float]
    memory_bytes: Sequence[int]
    edges: Sequence[tuple[int, int, int]]
    balance_of_task: Sequence[int] = ()
    job_of_task: Sequence[int] = ()
    job_names: Sequence[str] = ("j0",)
    release_seconds: Sequence[float] = (0.0,)


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuModel:
    """The GPUs that a measured graph is put on, and the model of its times on each of them.

    Parameters
    ----------
    cluster
        GPUs and links; None stands for what the reader says, `DEFAULT_CLUSTER` unless the file has devices of its own.
    cost
        How durations, bytes and memory follow; None stands for `READER_COST`.
    seed
        Seed of the balances, and of whatever `cost` draws.
    reference_kind
        Kind of GPU that the times are taken to come from, as in the catalogue.
    """

    cluster: Cluster | None = None
    cost: CostModel | None = None
    seed: int = 0
    reference_kind: str = DEFAULT_REFERENCE_KIND

    def check_unused(self, reason: str) -> None:
        """Check that nobody asks for a cluster or costs where the file itself says how long its tasks take.

        Raises a `ValueError` if a cluster or a cost model is given.
        """
        if self.cluster is not None:
            raise ValueError(f"cluster: expected none, as {reason}, got {len(self.cluster.kinds)} GPUs.")
        if self.cost is not None:
            raise ValueError(f"cost: expected none, as {reason}, got {self.cost}.")


def dag_instance_from_measured(graph: MeasuredGraph, model: GpuModel) -> DagInstance:
    """Put a measured graph on a cluster.

    On GPUs of the reference kind a task takes its measured time (rounded to ticks, if `cost` adds no noise). Times on
    other kinds are a model and no measurement: the measured time is turned into FLOPs and moved bytes, whose roofline
    on the other kind is its time there. How much of each a task has is assumed: its computing time over its data time
    is log-normal around 1, drawn from the seed. The machines are therefore unrelated.

    Raises a `ValueError` if the seed is negative, the kind is unknown, or the graph does not fit on the cluster.
    """
    if model.seed < 0:
        raise ValueError(f"seed: expected at least 0, got {model.seed}.")
    cluster = parse_cluster(DEFAULT_CLUSTER) if model.cluster is None else model.cluster
    cost = READER_COST if model.cost is None else model.cost
    rng = np.random.default_rng(model.seed)
    balance_of_task = np.array(graph.balance_of_task or range(len(graph.task_names)), dtype=np.int64)
    balances = np.exp(BALANCE_SPREAD * rng.standard_normal(int(balance_of_task.max(initial=-1)) + 1))
    flops, moved_bytes = gpu_kind(model.reference_kind).work_from_seconds(
        np.array(graph.seconds, dtype=np.float64) * cost.efficiency,  # the roofline divides by it again
        precision=cost.precision,
        balance=balances[balance_of_task],
    )
    workload = TaskGraph(
        name=graph.name,
        task_names=graph.task_names,
        flops=flops.tolist(),
        moved_bytes=moved_bytes.tolist(),
        memory_bytes=graph.memory_bytes,
        edges=graph.edges,
        job_of_task=graph.job_of_task,
        job_names=graph.job_names,
        release_seconds=graph.release_seconds,
        weight=[1] * len(graph.job_names),
    )
    return dag_instance_from_graph(workload, cluster, cost, rng)


def pipeline_from_measured(
    graph: MeasuredGraph,
    backward_seconds: Sequence[float],
    weight_bytes: Sequence[int],
    model: GpuModel,
    *,
    stages: int,
    micro_batches: int,
    memory: int,
) -> DagInstance:
    """Cut the layers of a measured graph into stages of a training pipeline, one on each of as many equal GPUs.

    Stages are runs of layers in a topological order, cut so that the largest sum of forward and backward times is as
    small as possible (PipeDream's measure without transfers). The passes of a stage take the sums of their layers'
    times, on a share of 1/b of the data with b micro-batches; B and W are one pass, because the profiles do not tell
    them apart. A forward pass holds the outputs of its layers until its backward pass has ended. Between neighbouring
    stages goes what layers before a cut hand to layers behind it, the largest such sum at every cut, over the links of
    the reference kind. This is a model of ours; only the times of layers are measured.

    Parameters
    ----------
    graph
        Forward times of all data; what a layer sends is its output, one size along all its edges.
    backward_seconds, weight_bytes
        Of each layer; the weights with everything that is kept for them.
    memory
        Bytes of every GPU.

    Raises
    ------
    ValueError
        If there are more stages than layers, a cluster is given, or a stage fits on no GPU.
    """
    n, kind = len(graph.task_names), gpu_kind(model.reference_kind)
    if model.cluster is not None:
        raise ValueError(f"cluster: expected none with stages, which are on {stages} GPUs of the reference kind.")
    if not 1 <= stages <= n:
        raise ValueError(f"stages: expected a number in 1..{n}, the number of layers, got {stages}.")
    before: dict[int, set[int]] = {task: set() for task in range(n)}
    output = [0] * n
    for tail, head, data in graph.edges:
        before[head].add(tail)
        output[tail] = max(output[tail], data)
    order = list(TopologicalSorter(before).static_order())
    work = np.array([graph.seconds[task] + backward_seconds[task] for task in order])
    ends = _balanced_cuts(work, stages)
    parts = [order[begin:end] for begin, end in pairwise([0, *ends])]
    place = {task: number for number, part in enumerate(parts) for task in part}
    sent = [{tail for tail, head, _ in graph.edges if place[tail] < cut <= place[head]} for cut in range(1, stages)]
    handed = max((sum(output[tail] for tail in tails) for tails in sent), default=0) / micro_batches
    times = [
        [sum(seconds[task] for task in part) / micro_batches for part in parts]
        for seconds in (graph.seconds, backward_seconds)
    ]
    mean = sum(map(sum, times)) / (2 * stages)
    cost = READER_COST if model.cost is None else model.cost
    tick = cost.tick_seconds or float(f"{(mean or 1.0) / cost.mean_ticks:.3g}")
    forward, backward = ([max(1, round(seconds / tick)) for seconds in row] for row in times)
    return pipeline_instance(
        micro_batches=micro_batches,
        forward=forward,
        backward=backward,
        weight=[0] * stages,
        transfer=math.ceil((LATENCY_INSIDE_SECONDS + handed / kind.pcie_bandwidth) / tick) if handed else 0,
        fused=True,
        until_backward=[math.ceil(sum(output[task] for task in part) / micro_batches) for part in parts],
        until_weight=[0] * stages,
        stage_bytes=[sum(weight_bytes[task] for task in part) for part in parts],
        limits=memory,
        gpu_kinds=[kind.name] * stages,
        tick_seconds=tick,
        name=f"{graph.name}-{stages}-stages",
    )


def _balanced_cuts(work: NDArray[np.float64], stages: int) -> list[int]:
    """Return the end of every run such that the largest sum over a run is least; no run is empty."""
    total = np.concatenate([[0.0], np.cumsum(work)])
    best = total.copy()
    cuts: list[NDArray[np.intp]] = []
    best[0] = np.inf  # of the first run; an empty one does not count
    for _ in range(stages - 1):
        larger = np.maximum(best[:, None], total[None, :] - total[:, None])
        larger[np.tril_indices(len(total))] = np.inf
        cuts.append(larger.argmin(axis=0))
        best = larger.min(axis=0)
    ends = [len(work)]
    for cut in reversed(cuts):
        ends.append(int(cut[ends[-1]]))
    return ends[::-1]
