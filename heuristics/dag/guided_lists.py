"""List scheduling that is guided by clusters of tasks or by its own last schedule (Numba)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heuristics.dag.arrays import dag_arrays, mean_transfer_delays
from heuristics.dag.list_scheduling import schedule_of
from heuristics.dag.priorities import pop, push, upward_ranks
from heuristics.dag.timeline import (
    Placement,
    Timeline,
    earliest_free_start,
    least_overflow,
    memory_left,
    new_timeline,
    objective_of,
    place,
    ready_times,
    transfer_delay,
)
from instances.dag.graph import successors
from instances.dag.objective import Objective
from instances.kernels import inner_kernel, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.arrays import DagArrays
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


class _Links(NamedTuple):
    """Links by class, as in `DagArrays`."""

    link_class: NDArray[np.int64]
    latency: NDArray[np.int64]
    bytes_per_tick: NDArray[np.float64]


class Guide(NamedTuple):
    """Guidance of one pass of list scheduling."""

    priority: NDArray[np.float64]  # (n,), the ready task with the highest priority goes next
    gpu: NDArray[np.int64]  # (n,), GPUs in the last schedule
    level: NDArray[np.int64]  # (n,), longest path from a task's start to the end in the last schedule
    company: float  # in [0, 1], weight of the assumption that a successor moves to the task's GPU too
    waste: NDArray[np.float64]  # (n, m), ticks that a GPU wastes on a task
    price: float  # cost in ticks of a tick of waste
    cluster: NDArray[np.int64]  # (n,), tasks of one cluster go to one GPU where they fit
    work: NDArray[np.float64]  # (n, m), ticks of all tasks of a cluster on each GPU
    reserve: float  # share of a cluster's work that is added to the score of its GPU
    commitment: float  # share of the work of the clusters already on a GPU that is added to its score


@inner_kernel
def _paths_on(
    offsets: NDArray[np.int64],
    others: NDArray[np.int64],
    succ_bytes: NDArray[np.int64],
    durations: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    links: _Links,
    gpu: NDArray[np.int64],
    level: NDArray[np.int64],
    company: float,
    task: int,
    onward: NDArray[np.float64],
) -> None:
    """Write the longest path from a task's finish on each GPU to the end, by the last schedule, shape (m,)."""
    link_class, latency, bytes_per_tick = links
    onward[:] = 0.0
    for entry in range(offsets[task], offsets[task + 1]):
        other, data = others[entry], succ_bytes[entry]
        there = gpu[other]
        for k in range(len(onward)):
            path = np.float64(level[other])
            if data > 0:
                link = link_class[k, there]
                path += latency[k, link] + math.ceil(data / bytes_per_tick[k, link])
            if company > 0.0 and allowed[other, k]:
                along = level[other] + durations[other, k] - durations[other, there]
                if along < path:
                    path += company * (along - path)
            onward[k] = max(onward[k], path)


@kernel
def guided_pass(arrays: DagArrays, succ_bytes: NDArray[np.int64], guide: Guide) -> Timeline:
    """Place all tasks once, each on the GPU with the least score.

    The score is the earliest finish, plus the path to the end by the last schedule, the price of waste and shares of
    the work of clusters. `succ_bytes`, the data to each successor, shape (edges,), is empty without a last schedule.
    """
    n, m = arrays.durations.shape
    timeline = new_timeline(arrays)
    missing = arrays.pred_offsets[1:] - arrays.pred_offsets[:-1]
    chosen = np.full(n, -1, dtype=np.int64)  # GPU of each cluster
    committed, onward, ready = np.zeros(m), np.zeros(m), np.empty(m, dtype=np.int64)
    links = _Links(arrays.link_class, arrays.class_latency, arrays.class_bytes_per_tick)
    allowed, durations, waste, work_of = arrays.allowed, arrays.durations, guide.waste, guide.work
    slot_start, slot_finish, num_slots = timeline.slot_start, timeline.slot_finish, timeline.num_slots
    heap, size, fits = np.empty(n, dtype=np.int64), 0, np.empty(m, dtype=np.bool_)
    for task in range(n):
        if missing[task] == 0:
            push(heap, size, guide.priority, task)
            size += 1
    while size > 0:
        task = pop(heap, size, guide.priority)
        size -= 1
        ready_times(arrays, timeline, task, ready)
        if len(succ_bytes):
            _paths_on(
                arrays.succ_offsets,
                arrays.succ_tasks,
                succ_bytes,
                durations,
                allowed,
                links,
                guide.gpu,
                guide.level,
                guide.company,
                task,
                onward,
            )
        for k in range(m):
            fits[k] = allowed[task, k] and memory_left(arrays, timeline, task, k) >= 0
        cluster = guide.cluster[task]
        only = chosen[cluster]
        if only >= 0 and not fits[only]:
            only = -1
        best, best_start, best_score = -1, 0, np.inf
        for k in range(m):
            if not fits[k] or (only >= 0 and k != only):
                continue
            work = durations[task, k]
            start = earliest_free_start(slot_start[k], slot_finish[k], num_slots[k], ready[k], work, True)
            score = start + work + onward[k] + guide.price * waste[task, k]
            score += guide.reserve * work_of[cluster, k] + guide.commitment * committed[k]
            if score < best_score:
                best, best_start, best_score = k, start, score
        if best < 0:
            best = least_overflow(arrays, timeline, task)
            best_start = earliest_free_start(
                slot_start[best], slot_finish[best], num_slots[best], ready[best], durations[task, best], True
            )
        if chosen[cluster] < 0:
            chosen[cluster] = best
            committed[best] += work_of[cluster, best]
        place(arrays, timeline, task, best, best_start)
        for entry in range(arrays.succ_offsets[task], arrays.succ_offsets[task + 1]):
            other = arrays.succ_tasks[entry]
            missing[other] -= 1
            if missing[other] == 0:
                push(heap, size, guide.priority, other)
                size += 1
    return timeline


def clustered_lists(
    instance: DagInstance,
    threshold: float,
    waste: NDArray[np.float64],
    *,
    reserve: float = 0.5,
    commitment: float = 0.5,
    price: float = 0.0,
) -> DagSchedule | None:
    """Schedule by upward rank, keeping tasks together whose edges take longer than a threshold in ticks.

    Tasks are in one cluster if edges with a mean transfer delay above the threshold connect them. The first task of a
    cluster determines the GPU by its earliest finish, plus `reserve` times the work of the whole cluster there,
    `commitment` times the work of the clusters already there, and `price` times the cluster's waste (ticks that each
    GPU wastes on each task, shape (n, m)); the other tasks follow where they fit. The result is None where it exceeds a
    memory limit.

    References
    ----------
    Clusters by heavy edges are the idea of Kim and Browne (1988) and Sarkar (1989); threshold and choice are ours.
    """
    arrays, n = dag_arrays(instance), instance.num_tasks
    cluster = _clusters(n, np.array(instance.edges), mean_transfer_delays(instance), threshold)
    longest = np.where(instance.allowed, instance.durations, instance.durations.max(axis=1, initial=0)[:, None])
    work = np.zeros((n, instance.num_gpus))
    np.add.at(work, cluster, longest)
    wasted = np.zeros((n, instance.num_gpus))
    np.add.at(wasted, cluster, np.where(instance.allowed, waste, 0.0))
    guide = Guide(
        priority=upward_ranks(arrays),
        gpu=np.zeros(n, dtype=np.int64),
        level=np.zeros(n, dtype=np.int64),
        company=0.0,
        waste=wasted[cluster],
        price=price,
        cluster=cluster,
        work=work,
        reserve=reserve,
        commitment=commitment,
    )
    timeline = guided_pass(arrays, np.zeros(0, dtype=np.int64), guide)
    return schedule_of(instance, Placement(timeline.gpu, timeline.start, int(timeline.overflow[0])))


@inner_kernel
def _root(parent: NDArray[np.int64], task: int) -> int:
    """Return the smallest task of a cluster and shorten the path to it."""
    while parent[task] != task:
        parent[task] = parent[parent[task]]
        task = parent[task]
    return task


@kernel
def _clusters(
    num_tasks: int, edges: NDArray[np.int64], delays: NDArray[np.float64], threshold: float
) -> NDArray[np.int64]:
    """Return the smallest task of each task's cluster, shape (n,)."""
    parent = np.arange(num_tasks)
    for edge in range(len(edges)):
        if delays[edge] > threshold:
            first, second = _root(parent, edges[edge, 0]), _root(parent, edges[edge, 1])
            parent[max(first, second)] = min(first, second)
    for task in range(num_tasks):
        parent[task] = _root(parent, task)
    return parent


def iterated_lists(
    instance: DagInstance,
    objective: Objective,
    schedule: DagSchedule,
    waste: NDArray[np.float64],
    *,
    passes: int,
    company: float = 0.0,
    price: float = 0.0,
) -> DagSchedule | None:
    """Schedule repeatedly, each time with the levels and GPUs of the previous schedule; return the best schedule.

    A task goes to the GPU with the least sum of its earliest finish and the longest path from there to the end: the
    maximum over all successors of the delay to the successor's previous GPU plus the successor's level. Where the
    successor would finish earlier on the task's own GPU, that path counts with weight `company`. Priorities are the
    levels; waste and price are as in `Guide`. The result is None where all schedules exceed a memory limit.

    References
    ----------
    Levels from the last schedule: Liu, Poh and Xie (2005), Iterative list scheduling for heterogeneous computing,
    J. Parallel Distrib. Comput. 65(5). Paths to the previous GPUs of successors, company and waste are ours.
    """
    after, arrays = successors(instance), dag_arrays(instance)
    n, m = instance.num_tasks, instance.num_gpus
    guide = Guide(
        priority=np.zeros(n),
        gpu=np.array(schedule.gpu),
        level=np.zeros(n, dtype=np.int64),
        company=company,
        waste=waste,
        price=price,
        cluster=np.arange(n),
        work=np.zeros((n, m)),
        reserve=0.0,
        commitment=0.0,
    )
    weighted = Objective(objective) is Objective.WEIGHTED_COMPLETION
    return schedule_of(instance, _iterate(arrays, instance.edge_bytes[after.edges], guide, passes, weighted))


@inner_kernel
def _levels(arrays: DagArrays, succ_bytes: NDArray[np.int64], gpu: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the longest path from each task's start to the end, shape (n,)."""
    level = np.zeros(len(gpu), dtype=np.int64)
    for position in range(len(gpu) - 1, -1, -1):
        task = arrays.topological_order[position]
        longest = 0
        for entry in range(arrays.succ_offsets[task], arrays.succ_offsets[task + 1]):
            other = arrays.succ_tasks[entry]
            link = arrays.link_class[gpu[task], gpu[other]]
            longest = max(longest, level[other] + transfer_delay(arrays, gpu[task], link, succ_bytes[entry]))
        level[task] = longest + arrays.durations[task, gpu[task]]
    return level


@kernel
def _iterate(arrays: DagArrays, succ_bytes: NDArray[np.int64], guide: Guide, passes: int, weighted: bool) -> Placement:
    """Make passes, each guided by the previous one; return the best by (overflow, objective)."""
    gpu, best = guide.gpu, Placement(guide.gpu, guide.level, 2**62)
    best_value = 2**62
    for _ in range(passes):
        level = _levels(arrays, succ_bytes, gpu)
        now = Guide(
            level.astype(np.float64),
            gpu,
            level,
            guide.company,
            guide.waste,
            guide.price,
            guide.cluster,
            guide.work,
            guide.reserve,
            guide.commitment,
        )
        made = guided_pass(arrays, succ_bytes, now)
        overflow, value = made.overflow[0], objective_of(arrays, made, weighted)
        if overflow < best.overflow or (overflow == best.overflow and value < best_value):
            best, best_value = Placement(made.gpu, made.start, overflow), value
        gpu = made.gpu
    return best
