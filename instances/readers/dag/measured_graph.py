"""A task graph with one measured time per task, and the model that puts it on GPUs of other kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from instances.clusters.cluster import Cluster, parse_cluster
from instances.clusters.cost_model import CostModel
from instances.clusters.gpu_kinds import gpu_kind
from instances.dag.task_graph import TaskGraph, dag_instance_from_graph

if TYPE_CHECKING:
    from collections.abc import Sequence

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
