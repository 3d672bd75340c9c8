"""Random keys with buffers and groups: a decoder without deadlocks, with an overflow if parts do not fit (Numba).

Keys choose a GPU for every group and an order of the tasks. A task is appended to its GPU as soon as data, GPU and
memory allow; only tasks are taken whose buffers fit beside all that is not surely released, as in `buffer_lists`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heuristics.dag.arrays import DagArrays, dag_arrays
from heuristics.dag.buffer_lists import bytes_freed, placing_order, with_best_starts
from heuristics.dag.priorities import upward_ranks
from heuristics.dag.timeline import UNLIMITED, transfer_delay
from instances.dag.buffers import connected_parts, place_of_task
from instances.dag.objective import Objective
from instances.dag.schedule import DagSchedule
from instances.kernels import brief_kernel, inner_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


class BufferArrays(NamedTuple):
    """What a kernel needs of buffers and groups; n tasks, m GPUs, units are groups and single tasks."""

    unit_offsets: NDArray[np.int64]  # (units + 1,), units in the order in which they get GPUs
    unit_tasks: NDArray[np.int64]  # (n,)
    place: NDArray[np.bool_]  # (units, m), where the whole unit may run and fits by itself
    work: NDArray[np.int64]  # (units, m), ticks of the unit on every GPU
    needs: NDArray[np.int64]  # (units,), bytes that its tasks hold throughout
    takes: NDArray[np.int64]  # (n,), bytes of the buffers that begin with a task
    released_offsets: NDArray[np.int64]  # (n + 1,)
    released: NDArray[np.int64]  # buffers that every task releases, with others or alone
    owner: NDArray[np.int64]  # (buffers,)
    size: NDArray[np.int64]  # (buffers,)
    num_releases: NDArray[np.int64]  # (buffers,)
    part: NDArray[np.int64]  # (n,), connected part of every task
    frees: NDArray[np.int64]  # (n,), bytes that a task releases less those that begin with it


RANKED, DIRECT, FIRST = 0, 1, 2
"""How a key chooses among the GPUs that hold a unit: by when their work ends, squared; by index; always the first."""


@inner_kernel
def choose_gpus(
    arrays: DagArrays, buffers: BufferArrays, keys: NDArray[np.float64], rule: int, gpu: NDArray[np.int64]
) -> int:
    """Write a GPU for every task; return the bytes by which the tasks' own memory exceeds the limits."""
    m = len(arrays.gpu_memory)
    busy, left, ends = np.zeros(m, dtype=np.int64), np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    able, overflow = np.empty(m, dtype=np.int64), 0
    for k in range(m):
        left[k] = UNLIMITED if arrays.gpu_memory[k] < 0 else arrays.gpu_memory[k]
    for unit in range(len(buffers.needs)):
        count, roomiest = 0, -1
        for k in range(m):
            if buffers.place[unit, k]:
                if buffers.needs[unit] <= left[k]:
                    able[count], ends[count] = k, busy[k] + buffers.work[unit, k]
                    count += 1
                if roomiest < 0 or left[k] > left[roomiest]:
                    roomiest = k
        if roomiest < 0:  # no GPU may run it
            return int(UNLIMITED)
        chosen = roomiest
        if count > 0:
            if rule != DIRECT:
                for place in range(1, count):  # insertion sort by end, ties by index
                    k, end, slot = able[place], ends[place], place
                    while slot > 0 and ends[slot - 1] > end:
                        able[slot], ends[slot] = able[slot - 1], ends[slot - 1]
                        slot -= 1
                    able[slot], ends[slot] = k, end
            position = 0
            if rule != FIRST:
                key = keys[buffers.unit_tasks[buffers.unit_offsets[unit]]]
                position = min(count - 1, int(count * (key * key if rule == RANKED else key)))
            chosen = able[position]
        busy[chosen] += buffers.work[unit, chosen]
        overflow += max(0, buffers.needs[unit] - max(0, left[chosen]))
        left[chosen] -= buffers.needs[unit]
        for entry in range(buffers.unit_offsets[unit], buffers.unit_offsets[unit + 1]):
            gpu[buffers.unit_tasks[entry]] = chosen
    return overflow


@inner_kernel
def append_by_keys(
    arrays: DagArrays,
    buffers: BufferArrays,
    keys: NDArray[np.float64],
    by_parts: bool,
    gpu: NDArray[np.int64],
    start: NDArray[np.int64],
) -> int:
    """Append the ready task of the highest key that fits, again and again; return the bytes that found no place.

    With `by_parts` the connected part that begins with the highest key comes first, and within a part what frees most
    memory; ties go by index. Invariant: what is appended never has to be taken back, because buffers count as held
    until all tasks that release them have their places.
    """
    n, m = len(arrays.release), len(arrays.gpu_memory)
    free_memory, free_at = np.empty(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    for k in range(m):
        free_memory[k] = UNLIMITED if arrays.gpu_memory[k] < 0 else arrays.gpu_memory[k]
    for task in range(n):
        if arrays.gpu_memory[gpu[task]] >= 0:
            free_memory[gpu[task]] -= arrays.task_memory[task]
    count_of = np.zeros(m, dtype=np.int64)  # ends of buffers that begin on every GPU, later than its last start
    most = np.zeros(m + 1, dtype=np.int64)
    for buffer in range(len(buffers.owner)):
        most[gpu[buffers.owner[buffer]] + 1] += 1
    for k in range(m):
        most[k + 1] += most[k]
    end_tick, end_bytes = np.empty(most[m], dtype=np.int64), np.empty(most[m], dtype=np.int64)
    waits, last = buffers.num_releases.copy(), np.zeros(len(buffers.owner), dtype=np.int64)
    finish, missing, ready = np.zeros(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    best_of_part = np.full(n, -1.0)
    num_ready = 0
    for task in range(n):
        best_of_part[buffers.part[task]] = max(best_of_part[buffers.part[task]], keys[task])
        missing[task] = arrays.pred_offsets[task + 1] - arrays.pred_offsets[task]
        if missing[task] == 0:
            ready[num_ready] = task
            num_ready += 1
    for _ in range(n):
        chosen = -1
        for entry in range(num_ready):
            task = ready[entry]
            k = gpu[task]
            fits = buffers.takes[task] == 0 or buffers.takes[task] <= free_memory[k]
            if not fits:  # what ends later is free by then
                later = free_memory[k]
                for slot in range(most[k], most[k] + count_of[k]):
                    later += end_bytes[slot]
                fits = buffers.takes[task] <= later
            if not fits:
                continue
            if chosen < 0:
                chosen = entry
                continue
            other = ready[chosen]
            if by_parts and buffers.part[task] != buffers.part[other]:
                one, two = best_of_part[buffers.part[task]], best_of_part[buffers.part[other]]
                if one > two or (one == two and buffers.part[task] < buffers.part[other]):
                    chosen = entry
            elif by_parts and buffers.frees[task] != buffers.frees[other]:
                if buffers.frees[task] > buffers.frees[other]:
                    chosen = entry
            elif keys[task] > keys[other] or (keys[task] == keys[other] and task < other):
                chosen = entry
        if chosen < 0:
            break
        task = ready[chosen]
        num_ready -= 1
        ready[chosen] = ready[num_ready]
        k = gpu[task]
        duration = arrays.durations[task, k]
        begin = arrays.release[task]
        if duration > 0 or buffers.takes[task] > 0:
            begin = max(begin, free_at[k])
        for entry in range(arrays.pred_offsets[task], arrays.pred_offsets[task + 1]):
            before = arrays.pred_tasks[entry]
            link = arrays.link_class[gpu[before], k]
            delay = transfer_delay(arrays, gpu[before], link, arrays.pred_bytes[entry])
            begin = max(begin, finish[before] + delay)
        if buffers.takes[task] > 0:
            while True:  # wait for the next end until the task fits, and forget what has ended by its start
                next_end, kept = np.int64(-1), 0
                for slot in range(most[k], most[k] + count_of[k]):
                    if end_tick[slot] <= begin:
                        free_memory[k] += end_bytes[slot]
                    else:
                        if next_end < 0 or end_tick[slot] < next_end:
                            next_end = end_tick[slot]
                        end_tick[most[k] + kept], end_bytes[most[k] + kept] = end_tick[slot], end_bytes[slot]
                        kept += 1
                count_of[k] = kept
                if buffers.takes[task] <= free_memory[k] or next_end < 0:
                    break
                begin = next_end
            free_memory[k] -= buffers.takes[task]
        start[task], finish[task] = begin, begin + duration
        if duration > 0 or buffers.takes[task] > 0:
            free_at[k] = begin + duration
        for entry in range(buffers.released_offsets[task], buffers.released_offsets[task + 1]):
            buffer = buffers.released[entry]
            waits[buffer] -= 1
            last[buffer] = max(last[buffer], finish[task])
            if waits[buffer] == 0:
                place = gpu[buffers.owner[buffer]]
                end_tick[most[place] + count_of[place]] = last[buffer]
                end_bytes[most[place] + count_of[place]] = buffers.size[buffer]
                count_of[place] += 1
        for entry in range(arrays.succ_offsets[task], arrays.succ_offsets[task + 1]):
            head = arrays.succ_tasks[entry]
            missing[head] -= 1
            if missing[head] == 0:
                ready[num_ready] = head
                num_ready += 1
        missing[task] = -1
    lacking = 0
    for task in range(n):
        if missing[task] >= 0:
            lacking += 1 + buffers.takes[task]
    return lacking


@brief_kernel()
def evaluate_buffer_keys(
    arrays: DagArrays,
    buffers: BufferArrays,
    points: NDArray[np.float64],
    rule: int,
    objective: int,
    placed: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Decode points and return their fitness, (overflow bytes, objective), shape (count, 2).

    An order that gets stuck is made again part by part; where parts do not fit, the objective is 0. `objective` is 0
    for the makespan, 1 for the weighted completion, 2 for the stage span. GPUs and starts of the last point are written
    to `placed`, shape (2, n), unless it is empty.
    """
    n, m = arrays.durations.shape
    fitness = np.empty((len(points), 2), dtype=np.int64)
    gpu, start = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for point in range(len(points)):
        keys = points[point]
        overflow = choose_gpus(arrays, buffers, keys[n:], rule, gpu)
        if overflow == 0:
            overflow = append_by_keys(arrays, buffers, keys[:n], False, gpu, start)
            if overflow > 0:
                overflow = append_by_keys(arrays, buffers, keys[:n], True, gpu, start)
        fitness[point, 0] = overflow
        fitness[point, 1] = 0
        if overflow > 0:
            continue  # some starts are missing, or those of an earlier point
        value = 0
        if objective == 1:
            completion = arrays.job_release.copy()
            for task in range(n):
                job = arrays.job_of_task[task]
                completion[job] = max(completion[job], start[task] + arrays.durations[task, gpu[task]])
            for job in range(len(completion)):
                value += completion[job] * arrays.weight[job]
        else:
            first, last = np.full(m, -1, dtype=np.int64), np.zeros(m, dtype=np.int64)
            for task in range(n):
                k = gpu[task]
                if first[k] < 0 or start[task] < first[k]:
                    first[k] = start[task]
                last[k] = max(last[k], start[task] + arrays.durations[task, k])
            for k in range(m):
                if first[k] >= 0:
                    value = max(value, last[k] - (first[k] if objective == 2 else 0))
        fitness[point, 1] = value
    if len(placed):
        for task in range(n):
            placed[0, task], placed[1, task] = gpu[task], start[task]
    return fitness


_RULES = {"ranked": RANKED, "direct": DIRECT, "eft": FIRST}

_OBJECTIVES = {Objective.MAKESPAN: 0, Objective.WEIGHTED_COMPLETION: 1, Objective.STAGE_SPAN: 2}


class BufferKeys:
    """The decoder of one instance with buffers or groups, or for the stage span; ours.

    The first n keys are priorities: among the ready tasks that fit, the highest key is appended next, ties by index.
    The other n keys choose GPUs, that of a group by its first task. Where an order gets stuck, because what is held
    leaves too little for every ready task, the connected parts are taken one after the other, in the order of their
    highest keys. Points that get stuck even so, or whose groups do not fit, have an overflow. For the stage span, the
    best schedule's orders are then shifted to the least span; the search itself compares earliest starts.

    Parameters
    ----------
    decoding
        "ranked": position floor(c u^2) among the c GPUs that hold a group, sorted by when their work would end;
        "direct": position floor(c u), by index; "eft": always the GPU whose work ends first.

    Raises
    ------
    ValueError
        If there is no such decoding.
    """

    def __init__(self, instance: DagInstance, objective: Objective, decoding: str) -> None:
        if decoding not in _RULES:
            raise ValueError(f"decoding: expected one of {', '.join(_RULES)} with buffers or groups, got {decoding!r}.")
        self._instance, self._objective, self._rule = instance, Objective(objective), _RULES[decoding]
        self._plain = instance.without_buffers()
        self.arrays = dag_arrays(self._plain)
        self._buffers = _flattened(instance)

    def evaluate_many(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the fitness of points, (overflow bytes, objective), shape (count, 2)."""
        return self._evaluate(points, np.empty((0, 0), dtype=np.int64))

    def schedule(self, keys: NDArray[np.float64]) -> DagSchedule | None:
        """Return the schedule of a point, None where it exceeds a memory limit."""
        placed = np.empty((2, self._instance.num_tasks), dtype=np.int64)
        if self._evaluate(keys[None, :], placed)[0, 0] > 0:
            return None
        schedule = DagSchedule(gpu=placed[0], start=placed[1], instance=self._instance)
        if self._objective is not Objective.STAGE_SPAN:
            return schedule
        return with_best_starts(self._instance, schedule, self._objective)

    def keys_of(self, schedule: DagSchedule | None) -> NDArray[np.float64]:
        """Return a point with the GPUs, unless the decoding is "eft", and the order of starts of a schedule.

        Without a schedule, a point of upward ranks, each group on the GPU whose work ends first.
        """
        n, m = self._plain.durations.shape
        keys = np.zeros(n if self._rule == FIRST else 2 * n)
        position = np.empty(n, dtype=np.int64)
        position[self.arrays.topological_order] = np.arange(n)
        rank = -upward_ranks(self.arrays) if schedule is None else schedule.start
        keys[np.lexsort((position, rank))] = 1.0 - (np.arange(n) + 0.5) / max(n, 1)
        if schedule is None or self._rule == FIRST:
            return keys
        buffers, busy = self._buffers, np.zeros(m, dtype=np.int64)
        left = np.where(self._plain.gpu_memory < 0, UNLIMITED, self._plain.gpu_memory)
        for unit in range(len(buffers.needs)):
            task = buffers.unit_tasks[buffers.unit_offsets[unit]]
            able = np.flatnonzero(buffers.place[unit] & (buffers.needs[unit] <= left))
            if self._rule == RANKED:
                able = able[np.argsort(busy[able] + buffers.work[unit, able], kind="stable")]
            k = int(schedule.gpu[task])
            share = (np.flatnonzero(able == k)[0] + 0.5) / len(able)
            keys[n + task] = np.sqrt(share) if self._rule == RANKED else share
            busy[k] += buffers.work[unit, k]
            left[k] -= buffers.needs[unit]
        return keys

    def _evaluate(self, points: NDArray[np.float64], placed: NDArray[np.int64]) -> NDArray[np.int64]:
        """Call the kernel."""
        return evaluate_buffer_keys(
            self.arrays, self._buffers, points, self._rule, _OBJECTIVES[self._objective], placed
        )


def _flattened(instance: DagInstance) -> BufferArrays:
    """Return the buffers and groups of an instance as arrays."""
    n, place, members = instance.num_tasks, place_of_task(instance), placing_order(instance)
    part = np.zeros(n, dtype=np.int64)
    for number, tasks in enumerate(connected_parts(instance)):
        part[tasks] = number
    by_task = instance.buffer_releases[np.argsort(instance.buffer_releases[:, 1], kind="stable")]
    takes = np.zeros(n, dtype=np.int64)
    np.add.at(takes, instance.buffer_task, instance.buffer_bytes)
    firsts = [unit[0] for unit in members]
    return BufferArrays(
        unit_offsets=np.cumsum([0, *map(len, members)]).astype(np.int64),
        unit_tasks=np.array([task for unit in members for task in unit], dtype=np.int64),
        place=np.ascontiguousarray(place[firsts]),
        work=np.array([instance.durations[unit].sum(axis=0) for unit in members], dtype=np.int64).reshape(
            len(members), instance.num_gpus
        ),
        needs=np.array([instance.task_memory[unit].sum() for unit in members], dtype=np.int64),
        takes=takes,
        released_offsets=np.searchsorted(by_task[:, 1], np.arange(n + 1)).astype(np.int64),
        released=np.ascontiguousarray(by_task[:, 0]),
        owner=np.array(instance.buffer_task, dtype=np.int64),
        size=np.array(instance.buffer_bytes, dtype=np.int64),
        num_releases=np.bincount(instance.buffer_releases[:, 0], minlength=instance.num_buffers).astype(np.int64),
        part=part,
        frees=bytes_freed(instance),
    )
