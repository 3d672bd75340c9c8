"""Which tasks run on each GPU and when it is free: the building blocks of every list scheduler (Numba)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from instances.kernels import inlined_kernel, inner_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.arrays import DagArrays


class Timeline(NamedTuple):
    """A partial schedule, changed in place."""

    gpu: NDArray[np.int64]  # (n,), -1 where not placed yet
    start: NDArray[np.int64]  # (n,)
    finish: NDArray[np.int64]  # (n,)
    slot_start: NDArray[np.int64]  # (m, n), busy slots of each GPU in order of time
    slot_finish: NDArray[np.int64]  # (m, n)
    num_slots: NDArray[np.int64]  # (m,)
    free_memory: NDArray[np.int64]  # (m,), negative after an overflow
    reserved: NDArray[np.int64]  # (m,), bytes of tasks not placed yet that may run nowhere else
    overflow: NDArray[np.int64]  # (1,), bytes placed beyond the limits
    home: NDArray[np.int64]  # (n,), GPU of every placed task and one for every other, so that memory holds all, or (0,)
    arrival: NDArray[np.int64]  # (m,), scratch: arrival of data over each class of links


class Placement(NamedTuple):
    """A kernel's result: GPU and start of every task, and the bytes beyond the memory limits."""

    gpu: NDArray[np.int64]  # (n,)
    start: NDArray[np.int64]  # (n,)
    overflow: int


UNLIMITED = np.int64(2**62)
"""Free memory of a GPU without a limit; larger than any sum of bytes."""


@inner_kernel
def new_timeline(arrays: DagArrays) -> Timeline:
    """Return an empty timeline."""
    n, m = arrays.durations.shape
    free_memory, reserved = np.empty(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    for k in range(m):
        free_memory[k] = UNLIMITED if arrays.gpu_memory[k] < 0 else arrays.gpu_memory[k]
    for task in range(n):
        if arrays.only_gpu[task] >= 0:
            reserved[arrays.only_gpu[task]] += arrays.task_memory[task]
    for task in range(len(arrays.home)):  # then memory is counted at home, from the beginning
        free_memory[arrays.home[task]] -= arrays.task_memory[task]
    return Timeline(
        np.full(n, -1, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.empty((m, n), dtype=np.int64),
        np.empty((m, n), dtype=np.int64),
        np.zeros(m, dtype=np.int64),
        free_memory,
        reserved,
        np.zeros(1, dtype=np.int64),
        arrays.home.copy(),
        np.empty(m, dtype=np.int64),
    )


@inlined_kernel
def ready_times(arrays: DagArrays, timeline: Timeline, task: int, ready: NDArray[np.int64]) -> None:
    """Write when the data of all predecessors and the release allow a task to start on each GPU, shape (m,)."""
    arrival = timeline.arrival
    ready[:] = arrays.release[task]
    for entry in range(arrays.pred_offsets[task], arrays.pred_offsets[task + 1]):
        predecessor, data = arrays.pred_tasks[entry], arrays.pred_bytes[entry]
        finish, source = timeline.finish[predecessor], timeline.gpu[predecessor]
        if data == 0:
            for k in range(len(ready)):
                ready[k] = max(ready[k], finish)
            continue
        for link in range(arrays.num_link_classes[source]):
            transfer = np.int64(math.ceil(data / arrays.class_bytes_per_tick[source, link]))
            arrival[link] = finish + arrays.class_latency[source, link] + transfer
        for k in range(len(ready)):
            ready[k] = max(ready[k], arrival[arrays.link_class[source, k]])


@inlined_kernel
def earliest_free_start(
    slot_start: NDArray[np.int64],
    slot_finish: NDArray[np.int64],
    count: int,
    ready: int,
    duration: int,
    insertion: bool,
) -> int:
    """Return the earliest start on a GPU not before `ready`: in an idle gap, or after its last task.

    Takes the GPU's own row of slots, of which `count` are in use: passing whole timelines costs more than the search.
    """
    if duration == 0 or count == 0 or slot_finish[count - 1] <= ready:
        return ready  # a task of duration 0 occupies nothing
    if not insertion:
        return slot_finish[count - 1]
    start, first, last = ready, 0, count - 1  # the first slot that ends after `ready`
    while first < last:
        middle = (first + last) // 2
        if slot_finish[middle] > ready:
            last = middle
        else:
            first = middle + 1
    for slot in range(first, count):
        if start + duration <= slot_start[slot]:
            return start
        start = slot_finish[slot]
    return start


@inlined_kernel
def memory_left(arrays: DagArrays, timeline: Timeline, task: int, k: int) -> int:
    """Return the bytes left on GPU k if the task and those with reserved memory go there; negative: it does not fit."""
    if len(timeline.home):
        return _left_at_home(arrays, timeline, task, k)
    reserved = timeline.reserved[k]
    if arrays.only_gpu[task] == k:
        reserved -= arrays.task_memory[task]
    return timeline.free_memory[k] - reserved - arrays.task_memory[task]


@inner_kernel
def _left_at_home(arrays: DagArrays, timeline: Timeline, task: int, k: int) -> int:
    """Return the bytes left on GPU k after the task goes there and another one leaves if need be; negative: not so."""
    if timeline.home[task] == k:
        return 0
    left = timeline.free_memory[k] - arrays.task_memory[task]
    if left < 0 and _partner(arrays, timeline, task, k)[0] >= 0:
        return 0
    return int(left)


@inner_kernel
def _partner(arrays: DagArrays, timeline: Timeline, task: int, k: int) -> tuple[int, int]:
    """Return a task not placed yet that can leave GPU k for another one so that a task fits on k; -1 where none can.

    It is the smallest that is large enough, and goes where most memory is left, which is counted without `task`.
    """
    best, target, memory = -1, -1, arrays.task_memory
    needed = memory[task] - timeline.free_memory[k]
    for other in range(len(timeline.home)):
        if timeline.gpu[other] >= 0 or timeline.home[other] != k or memory[other] < needed:
            continue
        if best >= 0 and memory[other] >= memory[best]:
            continue
        most, where = memory[other] - 1, -1
        for l in range(len(timeline.free_memory)):
            free = timeline.free_memory[l] + (memory[task] if timeline.home[task] == l else 0)
            if l != k and arrays.allowed[other, l] and free > most:
                most, where = free, l
        if where >= 0:
            best, target = other, where
    return best, target


@inner_kernel
def _move_home(arrays: DagArrays, timeline: Timeline, task: int, k: int) -> None:
    """Make GPU k, where `memory_left` says that it fits, the home of a task, and find another one for its partner."""
    if timeline.free_memory[k] < arrays.task_memory[task]:
        other, target = _partner(arrays, timeline, task, k)
        timeline.home[other] = target
        timeline.free_memory[k] += arrays.task_memory[other]
        timeline.free_memory[target] -= arrays.task_memory[other]
    timeline.free_memory[timeline.home[task]] += arrays.task_memory[task]
    timeline.free_memory[k] -= arrays.task_memory[task]
    timeline.home[task] = k


@inlined_kernel
def least_overflow(arrays: DagArrays, timeline: Timeline, task: int) -> int:
    """Return the allowed GPU with the most memory left for a task that fits nowhere; ties to the lowest index."""
    best = -1
    for k in range(len(timeline.num_slots)):
        if arrays.allowed[task, k] and (
            best < 0 or memory_left(arrays, timeline, task, k) > memory_left(arrays, timeline, task, best)
        ):
            best = k
    return best


@inlined_kernel
def place(arrays: DagArrays, timeline: Timeline, task: int, k: int, start: int) -> None:
    """Put a task on GPU k at a start found by `earliest_free_start`."""
    duration = arrays.durations[task, k]
    finish = start + duration
    timeline.gpu[task], timeline.start[task], timeline.finish[task] = k, start, finish
    if arrays.only_gpu[task] == k:
        timeline.reserved[k] -= arrays.task_memory[task]
    if len(timeline.home) == 0:
        before = min(timeline.free_memory[k], 0)
        timeline.free_memory[k] -= arrays.task_memory[task]
        timeline.overflow[0] += before - min(timeline.free_memory[k], 0)
    elif timeline.home[task] != k:
        _move_home(arrays, timeline, task, k)
    if duration == 0:
        return
    slot = timeline.num_slots[k]
    while slot > 0 and timeline.slot_start[k, slot - 1] > start:
        timeline.slot_start[k, slot] = timeline.slot_start[k, slot - 1]
        timeline.slot_finish[k, slot] = timeline.slot_finish[k, slot - 1]
        slot -= 1
    timeline.slot_start[k, slot], timeline.slot_finish[k, slot] = start, finish
    timeline.num_slots[k] += 1


@inlined_kernel
def transfer_delay(arrays: DagArrays, source: int, link: int, data: int) -> int:
    """Return the transfer delay of some bytes over a class of links from a GPU in ticks."""
    if data == 0:
        return 0
    return arrays.class_latency[source, link] + np.int64(math.ceil(data / arrays.class_bytes_per_tick[source, link]))


@inner_kernel
def objective_of(arrays: DagArrays, timeline: Timeline, weighted: bool) -> int:
    """Return the makespan or the weighted completion of a complete timeline."""
    last = 0
    for finish in timeline.finish:
        last = max(last, finish)
    if not weighted:
        return last
    completion = arrays.job_release.copy()
    for task in range(len(timeline.finish)):
        job = arrays.job_of_task[task]
        completion[job] = max(completion[job], timeline.finish[task])
    total = 0
    for job in range(len(completion)):
        total += completion[job] * arrays.weight[job]
    return total
