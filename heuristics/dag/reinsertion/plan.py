"""A schedule as a mutable graph: instance, orders on GPUs, longest paths to and from every task (Numba)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from instances.dag.graph import predecessors, successors
from instances.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag.graph import Adjacency
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


_TASK = np.dtype([(name, np.int64) for name in ("release", "memory", "job", "pred", "pred_end", "succ", "succ_end")])
_NEIGHBOUR = np.dtype([(name, np.int64) for name in ("task", "data", "mate")])
_LINK = np.dtype([("latency", np.int64), ("bytes_per_tick", np.float64)])
_JOB = np.dtype([("release", np.int64), ("weight", np.int64)])


class Graph(NamedTuple):
    """Arrays of records; n tasks, m GPUs, ticks and bytes as in `DagInstance`.

    Each array of a tuple that a kernel passes on costs a reference count, and each cache line touched costs time; with
    one array per field the same search took 1.5 to 2 times as long (measured by us).
    """

    task: NDArray[Any]  # (n,), release, memory, job; entries `pred` to `pred_end` of `pred`, `succ` to `succ_end`
    pred: NDArray[Any]  # (edges,), predecessor, data in bytes, entry of the same edge in `succ`
    succ: NDArray[Any]  # (edges,), successor, data in bytes, entry of the same edge in `pred`
    duration: NDArray[np.int64]  # (n, m), negative where the task may not run or the memory does not hold it alone
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


OUT = -1
"""GPU of a task that is removed."""

NOTHING = -1
"""No task, or no place in a sequence."""

UNLIMITED = 2**62
"""Free memory of a GPU without a limit; larger than any sum of bytes."""

_FIELDS = ("gpu", "duration", "head", "tail", "previous", "following", "position", "place")
_TASK_PLAN = np.dtype([(name, np.int64) for name in _FIELDS])
_GPU = np.dtype([("count", np.int64), ("free_memory", np.int64)])


class Plan(NamedTuple):
    """A schedule some of whose tasks may be removed, changed in place.

    Arcs are the edges, with the transfer delays of the chosen GPUs, and the order on every GPU. A record of `task`
    holds the task's GPU (`OUT` if it is removed) and duration there; head, the longest path to its start and thus its
    earliest start; tail, the longest path from its finish to the end; the tasks before and after it on its GPU; its
    position in the order of all tasks, and its place in the sequence of its GPU. A task of duration 0 is in no
    sequence. A removed task has heads and tails on all GPUs instead, as if it ran there in parallel with the others.
    """

    task: NDArray[Any]  # (n,)
    sink: NDArray[np.int64]  # (n,), least tail of each task
    order: NDArray[np.int64]  # (n,), a topological order of all tasks: every arc points forwards
    sequence: NDArray[np.int64]  # (m, n), tasks of each GPU with a duration above 0, in their order
    gpu: NDArray[Any]  # (m,), length of the sequence, free memory in bytes
    pred_delay: NDArray[np.int64]  # (edges,), per entry of `Graph.pred`, valid where neither end is removed
    succ_delay: NDArray[np.int64]  # (edges,), per entry of `Graph.succ`
    heads: NDArray[np.int64]  # (n, m), of removed tasks, valid where they may run
    tails: NDArray[np.int64]  # (n, m), of removed tasks, valid where they may run


def new_plan(instance: DagInstance, graph: Graph, schedule: DagSchedule) -> Plan:
    """Return a plan with the GPUs and orders of a schedule; `propagate_everything` computes heads and tails."""
    n, m = instance.num_tasks, instance.num_gpus
    plan = Plan(
        task=np.zeros(n, dtype=_TASK_PLAN),
        sink=np.zeros(n, dtype=np.int64),
        order=instance.topological_order[np.argsort(schedule.start[instance.topological_order], kind="stable")],
        sequence=np.zeros((m, n), dtype=np.int64),
        gpu=np.zeros(m, dtype=_GPU),
        pred_delay=np.zeros(instance.num_edges, dtype=np.int64),
        succ_delay=np.zeros(instance.num_edges, dtype=np.int64),
        heads=np.zeros((n, m), dtype=np.int64),
        tails=np.zeros((n, m), dtype=np.int64),
    )
    plan.gpu["free_memory"] = np.where(instance.gpu_memory < 0, UNLIMITED, instance.gpu_memory)
    _fill(graph, plan, np.array(schedule.gpu))
    return plan


@kernel
def _fill(graph: Graph, plan: Plan, gpu: NDArray[np.int64]) -> None:
    """Put all tasks on their GPUs, in order."""
    for position in range(len(plan.order)):
        task = plan.order[position]
        here, k = plan.task[task], gpu[task]
        here.gpu, here.duration, here.position = k, graph.duration[task, k], position
        here.previous = here.following = here.place = NOTHING
        plan.gpu[k].free_memory -= graph.task[task].memory
        if here.duration > 0:
            place = plan.gpu[k].count
            if place > 0:
                here.previous = plan.sequence[k, place - 1]
                plan.task[here.previous].following = task
            plan.sequence[k, place], here.place = task, place
            plan.gpu[k].count += 1
        for entry in range(graph.task[task].pred, graph.task[task].pred_end):
            edge = graph.pred[entry]
            link = graph.link[gpu[edge.task], k]
            delay = 0
            if edge.data > 0:
                delay = link.latency + np.int64(math.ceil(edge.data / link.bytes_per_tick))
            plan.pred_delay[entry] = plan.succ_delay[edge.mate] = delay


@kernel
def copy_plan(source: Plan, target: Plan) -> None:
    """Overwrite a plan with another one in which no task is removed."""
    for task in range(len(source.order)):
        target.task[task] = source.task[task]
        target.order[task], target.sink[task] = source.order[task], source.sink[task]
    for k in range(len(source.gpu)):
        target.gpu[k] = source.gpu[k]
        for place in range(source.gpu[k].count):
            target.sequence[k, place] = source.sequence[k, place]
    for entry in range(len(source.pred_delay)):
        target.pred_delay[entry], target.succ_delay[entry] = source.pred_delay[entry], source.succ_delay[entry]


@kernel
def makespan(plan: Plan) -> int:
    """Return the last finish of a plan in which no task is removed."""
    tasks, latest = plan.task, 0
    for task in range(len(tasks)):
        latest = max(latest, tasks[task].head + tasks[task].duration)
    return latest


@kernel
def completions(graph: Graph, plan: Plan, completion: NDArray[np.int64]) -> int:
    """Write the completion time of every job, shape (jobs,), and return the weighted sum."""
    for job in range(len(completion)):
        completion[job] = graph.job[job].release
    for task in range(len(plan.task)):
        job = graph.task[task].job
        completion[job] = max(completion[job], plan.task[task].head + plan.task[task].duration)
    total = 0
    for job in range(len(completion)):
        total += graph.job[job].weight * completion[job]
    return total
