"""One pass of list scheduling under the guidance of clusters or of the last schedule (Numba)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from heuristics.dag.ready_heap import pop, push
from heuristics.dag.timeline import (
    Timeline,
    earliest_start,
    least_overflow,
    new_timeline,
    place,
    ready_times,
    room,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.dag_arrays import DagArrays


class _Links(NamedTuple):
    """Links by class, as in `DagArrays`."""

    link_class: NDArray[np.int64]
    latency: NDArray[np.int64]
    bytes_per_tick: NDArray[np.float64]


class Guide(NamedTuple):
    """What a pass of list scheduling is guided by."""

    priority: NDArray[np.float64]  # (n,), the ready task with the highest goes next
    gpu: NDArray[np.int64]  # (n,), of the last schedule
    level: NDArray[np.int64]  # (n,), longest way from a task's start to the end in the last schedule
    company: float  # in [0, 1], how far a successor is trusted to come along to the task's GPU
    waste: NDArray[np.float64]  # (n, m), ticks that a GPU wastes on a task
    price: float  # ticks that count for a tick of waste
    cluster: NDArray[np.int64]  # (n,), tasks of one cluster go to one GPU where they fit
    work: NDArray[np.float64]  # (n, m), ticks of all tasks of a cluster on each GPU
    reserve: float  # share of a cluster's work that counts when its GPU is chosen
    commitment: float  # share of the work of the clusters on a GPU that counts


@njit(cache=True)
def _ways_on(
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
    """Write the longest way from a task's finish on each GPU to the end, going by the last schedule, shape (m,)."""
    link_class, latency, bytes_per_tick = links
    onward[:] = 0.0
    for entry in range(offsets[task], offsets[task + 1]):
        other, data = others[entry], succ_bytes[entry]
        there = gpu[other]
        for k in range(len(onward)):
            way = np.float64(level[other])
            if data > 0:
                link = link_class[k, there]
                way += latency[k, link] + math.ceil(data / bytes_per_tick[k, link])
            if company > 0.0 and allowed[other, k]:
                along = level[other] + durations[other, k] - durations[other, there]
                if along < way:
                    way += company * (along - way)
            onward[k] = max(onward[k], way)


@njit(cache=True)
def guided_pass(arrays: DagArrays, succ_bytes: NDArray[np.int64], guide: Guide) -> Timeline:
    """Place all tasks once, each on the GPU with the least score: earliest finish plus what the guide adds.

    Parameters
    ----------
    arrays
        The instance.
    succ_bytes
        Data to each successor, shape (edges,); empty where there is no last schedule to look at.
    guide
        What is added: the way on by the last schedule, prices of waste, and the work of clusters.
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
            _ways_on(
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
            fits[k] = allowed[task, k] and room(arrays, timeline, task, k) >= 0
        cluster = guide.cluster[task]
        only = chosen[cluster]
        if only >= 0 and not fits[only]:
            only = -1
        best, best_start, best_score = -1, 0, np.inf
        for k in range(m):
            if not fits[k] or (only >= 0 and k != only):
                continue
            work = durations[task, k]
            start = earliest_start(slot_start[k], slot_finish[k], num_slots[k], ready[k], work, True)
            score = start + work + onward[k] + guide.price * waste[task, k]
            score += guide.reserve * work_of[cluster, k] + guide.commitment * committed[k]
            if score < best_score:
                best, best_start, best_score = k, start, score
        if best < 0:
            best = least_overflow(arrays, timeline, task)
            best_start = earliest_start(
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
