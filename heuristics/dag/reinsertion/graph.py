"""A DAG instance as the reinsertion kernels want it: few arrays, what is read together stands together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from instances.adjacency import predecessors, successors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.adjacency import Adjacency
    from instances.dag_instance import DagInstance

_TASK = np.dtype([(name, np.int64) for name in ("release", "memory", "job", "pred", "pred_end", "succ", "succ_end")])
_NEIGHBOUR = np.dtype([(name, np.int64) for name in ("task", "data", "mate")])
_LINK = np.dtype([("latency", np.int64), ("bytes_per_tick", np.float64)])
_JOB = np.dtype([("release", np.int64), ("weight", np.int64)])


class Graph(NamedTuple):
    """Arrays of records; n tasks, m GPUs, ticks and bytes as in `DagInstance`.

    Kernels pay for every array of a tuple that they hand on (a reference is counted), and for every line of memory that
    they touch; with one array per field the same search took 1.5 to 2 times as long (measured by us).
    """

    task: NDArray[Any]  # (n,), release, memory, job; entries `pred` to `pred_end` of `pred`, `succ` to `succ_end`
    pred: NDArray[Any]  # (edges,), predecessor, data in bytes, entry of the same edge in `succ`
    succ: NDArray[Any]  # (edges,), successor, data in bytes, entry of the same edge in `pred`
    duration: NDArray[np.int64]  # (n, m), negative where the task may not run or does not fit by itself
    link: NDArray[Any]  # (m, m), latency in ticks, bytes per tick; no delay on the diagonal
    job: NDArray[Any]  # (jobs,), release and weight


def graph_of(instance: DagInstance) -> Graph:
    """Flatten an instance."""
    before, after = predecessors(instance), successors(instance)
    task = np.zeros(instance.num_tasks, dtype=_TASK)
    task["release"], task["job"] = instance.release[instance.job_of_task], instance.job_of_task
    task["memory"] = instance.task_memory
    task["pred"], task["pred_end"] = before.offsets[:-1], before.offsets[1:]
    task["succ"], task["succ_end"] = after.offsets[:-1], after.offsets[1:]
    link = np.zeros((instance.num_gpus, instance.num_gpus), dtype=_LINK)
    link["latency"], link["bytes_per_tick"] = instance.latency, instance.bytes_per_tick
    np.fill_diagonal(link["latency"], 0)
    np.fill_diagonal(link["bytes_per_tick"], np.inf)
    job = np.zeros(instance.num_jobs, dtype=_JOB)
    job["release"], job["weight"] = instance.release, instance.weight
    return Graph(
        task=task,
        pred=_neighbours(instance, before, after),
        succ=_neighbours(instance, after, before),
        duration=np.where(instance.allowed, instance.durations, -1),
        link=link,
        job=job,
    )


def _neighbours(instance: DagInstance, side: Adjacency, other: Adjacency) -> NDArray[Any]:
    """Return the neighbours on one side, each with the entry of the same edge on the other side."""
    entries = np.zeros(instance.num_edges, dtype=_NEIGHBOUR)
    entries["task"], entries["data"] = side.tasks, instance.edge_bytes[side.edges]
    place = np.empty(instance.num_edges, dtype=np.int64)
    place[other.edges] = np.arange(instance.num_edges)
    entries["mate"] = place[side.edges]
    return entries
