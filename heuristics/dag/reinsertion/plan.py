"""A schedule as a graph that can be changed: orders on GPUs, longest ways to and from every task."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.reinsertion.graph import Graph
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule

OUT = -1
"""GPU of a task that is taken out."""

NOTHING = -1
"""No task, no place."""

UNLIMITED = 2**62
"""Free memory of a GPU without a limit; no sum of bytes comes near."""

_FIELDS = ("gpu", "duration", "head", "tail", "previous", "following", "position", "place")
_TASK = np.dtype([(name, np.int64) for name in _FIELDS])
_GPU = np.dtype([("count", np.int64), ("free_memory", np.int64)])


class Plan(NamedTuple):
    """A schedule some of whose tasks may be taken out, changed in place.

    Arcs are the edges, with the transfer delays of the GPUs chosen, and the order on every GPU. Of each task: its GPU
    (`OUT` if it is taken out) and duration there; head, the longest way to its start and so the earliest start; tail,
    the longest way from its finish to the end; the tasks before and after it on its GPU; its position in the order of
    all tasks, and its place in the sequence of its GPU. A task that takes no time stands in no sequence. A task that is
    taken out has heads and tails on all GPUs instead, as if it ran there beside the others.
    """

    task: NDArray[Any]  # (n,)
    sink: NDArray[np.int64]  # (n,), least tail of each task
    order: NDArray[np.int64]  # (n,), all tasks, every arc points forwards
    sequence: NDArray[np.int64]  # (m, n), tasks of each GPU that take time, in their order
    gpu: NDArray[Any]  # (m,), length of the sequence, free memory in bytes
    pred_delay: NDArray[np.int64]  # (edges,), per entry of `Graph.pred`, valid where both ends are in
    succ_delay: NDArray[np.int64]  # (edges,), per entry of `Graph.succ`
    heads: NDArray[np.int64]  # (n, m), of tasks taken out, valid where they may run
    tails: NDArray[np.int64]  # (n, m), of tasks taken out, valid where they may run


def new_plan(instance: DagInstance, graph: Graph, schedule: DagSchedule) -> Plan:
    """Return a plan with the GPUs and orders of a schedule; heads and tails are left for `propagate_everything`."""
    n, m = instance.num_tasks, instance.num_gpus
    plan = Plan(
        task=np.zeros(n, dtype=_TASK),
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


@njit(cache=True)
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


@njit(cache=True)
def copy_plan(source: Plan, target: Plan) -> None:
    """Overwrite a plan by another one in which no task is taken out."""
    for task in range(len(source.order)):
        target.task[task] = source.task[task]
        target.order[task], target.sink[task] = source.order[task], source.sink[task]
    for k in range(len(source.gpu)):
        target.gpu[k] = source.gpu[k]
        for place in range(source.gpu[k].count):
            target.sequence[k, place] = source.sequence[k, place]
    for entry in range(len(source.pred_delay)):
        target.pred_delay[entry], target.succ_delay[entry] = source.pred_delay[entry], source.succ_delay[entry]


@njit(cache=True)
def makespan(plan: Plan) -> int:
    """Return the last finish of a plan in which no task is taken out."""
    tasks, latest = plan.task, 0
    for task in range(len(tasks)):
        latest = max(latest, tasks[task].head + tasks[task].duration)
    return latest


@njit(cache=True)
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
