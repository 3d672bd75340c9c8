"""List scheduling of any DAG with buffers and groups, which neither deadlocks nor overruns a memory limit."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.pipeline_orders import OrderedTasks
from instances.dag.buffers import connected_parts, memory_for_buffers, place_of_task, units
from instances.dag.graph import successor_lists
from instances.dag.objective import Objective, best_schedule, objective_value
from instances.dag.schedule import DagSchedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


def buffer_list(instance: DagInstance, objective: Objective = Objective.MAKESPAN) -> DagSchedule | None:
    """Return the best of five list schedules; None where no list keeps the memory limits.

    Groups go, those with most work first, to the GPU on which the work would end first. A list is a topological order
    in which tasks that ran one after the other would keep the limits: the next task is the ready one of highest
    priority that still fits. Each task is appended to its GPU as soon as data, GPU and memory allow; a buffer counts as
    held until all tasks that release it have their places, so that no task is ever placed that would have to be taken
    back. Priorities are upward ranks (longest mean path to the end), parts one after the other, and parts one after the
    other with what frees memory first; two more lists take the ready task that can start first, ties by upward rank or
    by what frees memory. For the stage span, orders are shifted where that keeps the limits.

    References
    ----------
    Ours; upward ranks as in HEFT (Topcuoglu, Hariri and Wu 2002).
    """
    gpu = _gpus(instance)
    if gpu is None:
        return None
    found: list[DagSchedule] = []
    priorities = _priorities(instance)
    for priority in priorities:
        order = _list(instance, gpu, priority)
        if order is not None:
            found.append(_placed(instance, gpu, order))
    by_rank, frees_first = priorities[0], [key[1:] for key in priorities[2]]
    for priority in (by_rank, frees_first):
        schedule = _first_come(instance, gpu, priority)
        found += [] if schedule is None else [schedule]
    if Objective(objective) is Objective.STAGE_SPAN:
        found = [with_best_starts(instance, schedule, Objective.STAGE_SPAN) for schedule in found]
    return best_schedule(instance, objective, found)


def placing_order(instance: DagInstance) -> list[list[int]]:
    """Return groups and single tasks in the order in which they get GPUs.

    First those that may run on one GPU only, then those that need most memory, then those with most work.
    """
    place, members = place_of_task(instance), units(instance)
    work = [int(instance.durations[unit].max(axis=1).sum()) for unit in members]
    needs = [int(instance.task_memory[unit].sum()) for unit in members]

    def key(number: int) -> tuple[bool, int, int, list[int]]:
        unit = members[number]
        return bool(place[unit[0]].sum() != 1), -needs[number], -work[number], unit

    return [members[number] for number in sorted(range(len(members)), key=key)]


def bytes_freed(instance: DagInstance) -> NDArray[np.int64]:
    """Return the bytes of the buffers that each task releases less those of the buffers that begin with it, (n,)."""
    frees = np.zeros(instance.num_tasks, dtype=np.int64)
    np.add.at(frees, instance.buffer_releases[:, 1], instance.buffer_bytes[instance.buffer_releases[:, 0]])
    np.subtract.at(frees, instance.buffer_task, instance.buffer_bytes)
    return frees


def _gpus(instance: DagInstance) -> list[int] | None:
    """Return a GPU for every task; None where the groups' own memory does not fit in the order in which they come."""
    place, gpu = place_of_task(instance), [0] * instance.num_tasks
    busy = [0] * instance.num_gpus
    left = [None if limit < 0 else int(limit) for limit in instance.gpu_memory]
    for unit in placing_order(instance):
        needed = int(instance.task_memory[unit].sum())
        ends = {
            k: busy[k] + int(instance.durations[unit, k].sum())
            for k in np.flatnonzero(place[unit[0]]).tolist()
            if left[k] is None or needed <= (left[k] or 0)
        }
        if not ends:
            return None
        k = min(ends, key=lambda k: (ends[k], k))
        busy[k] = ends[k]
        if left[k] is not None:
            left[k] = (left[k] or 0) - needed
        for task in unit:
            gpu[task] = k
    return gpu


def _priorities(instance: DagInstance) -> list[list[tuple[float, ...]]]:
    """Return three sort keys per task; smaller ones come first."""
    mean = np.where(instance.allowed, instance.durations, 0).sum(axis=1) / np.maximum(instance.allowed.sum(axis=1), 1)
    rank = mean.copy()
    after = successor_lists(instance.num_tasks, instance.edges)
    for task in instance.topological_order[::-1].tolist():
        rank[task] += max((rank[head] for head in after[task]), default=0.0)
    part_of = {task: number for number, part in enumerate(connected_parts(instance)) for task in part}
    frees = bytes_freed(instance)
    tasks = range(instance.num_tasks)
    return [
        [(-float(rank[task]), task) for task in tasks],
        [(part_of[task], -float(rank[task]), task) for task in tasks],
        [(part_of[task], -float(frees[task]), -float(rank[task]), task) for task in tasks],
    ]


def _list(instance: DagInstance, gpu: Sequence[int], priority: Sequence[tuple[float, ...]]) -> list[int] | None:
    """Return a topological order that keeps the limits if tasks run one after the other; None where it gets stuck."""
    after = successor_lists(instance.num_tasks, instance.edges)
    missing = [0] * instance.num_tasks
    for head in instance.edges[:, 1].tolist():
        missing[head] += 1
    takes, waits_for, owned = [0] * instance.num_tasks, list[int](), list[tuple[int, int]]()
    released_by: list[list[int]] = [[] for _ in range(instance.num_tasks)]
    for number, (task, size, tasks) in enumerate(instance.buffers):
        takes[task] += size
        waits_for.append(len(tasks))
        owned.append((gpu[task], size))
        for other in tasks:
            released_by[other].append(number)
    left = memory_for_buffers(instance, gpu)
    ready = [(priority[task], task) for task in range(instance.num_tasks) if missing[task] == 0]
    heapq.heapify(ready)
    order: list[int] = []
    too_large: list[tuple[tuple[float, ...], int]] = []
    while ready or too_large:
        if not ready:
            return None
        entry = heapq.heappop(ready)
        task = entry[1]
        free = left[gpu[task]]
        if free is not None and takes[task] > free:
            too_large.append(entry)
            continue
        if free is not None:
            left[gpu[task]] = free - takes[task]
        order.append(task)
        for number in released_by[task]:
            waits_for[number] -= 1
            k, size = owned[number]
            free = left[k]
            if waits_for[number] == 0 and free is not None:
                left[k] = free + size
        for head in after[task]:
            missing[head] -= 1
            if missing[head] == 0:
                heapq.heappush(ready, (priority[head], head))
        if released_by[task]:
            for entry in too_large:
                heapq.heappush(ready, entry)
            too_large = []
    return order


class _Appended:
    """Tasks that were appended to their GPUs one after the other, and the memory that they leave."""

    def __init__(self, instance: DagInstance, gpu: Sequence[int]) -> None:
        self.instance, self.gpu = instance, list(gpu)
        n = instance.num_tasks
        self.before: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        for edge, (tail, head) in enumerate(instance.edges.tolist()):
            self.before[head].append((tail, instance.transfer_delay(edge, gpu[tail], gpu[head])))
        self.takes = [0] * n
        self._waits_for, self._last_end, self._owned = list[int](), list[int](), list[tuple[int, int]]()
        self.released_by: list[list[int]] = [[] for _ in range(n)]
        for number, (task, size, tasks) in enumerate(instance.buffers):
            self.takes[task] += size
            self._waits_for.append(len(tasks))
            self._last_end.append(0)
            self._owned.append((gpu[task], size))
            for other in tasks:
                self.released_by[other].append(number)
        self._left = memory_for_buffers(instance, gpu)
        # (tick, bytes) that will be free again, per GPU; no task begins before the last one of its GPU
        self._ends: list[list[tuple[int, int]]] = [[] for _ in range(instance.num_gpus)]
        self.start, self._finish, self._free_at = [0] * n, [0] * n, [0] * instance.num_gpus

    def begins(self, task: int) -> int | None:
        """Return when a task can start; None where memory must be released by tasks that have no place yet."""
        k = self.gpu[task]
        begin = max(int(self.instance.release[self.instance.job_of_task[task]]), self._free_at[k])
        begin = max([begin, *(self._finish[tail] + delay for tail, delay in self.before[task])])
        free = self._left[k]
        if free is None or free >= self.takes[task]:
            return begin
        for tick, size in sorted(self._ends[k]):
            free, begin = free + size, max(begin, tick)
            if free >= self.takes[task]:
                return begin
        return None

    def append(self, task: int, begin: int) -> None:
        """Place a task at a start that `begins` gave."""
        k = self.gpu[task]
        free = self._left[k]
        if free is not None:
            while self._ends[k] and self._ends[k][0][0] <= begin:
                free += heapq.heappop(self._ends[k])[1]
            self._left[k] = free - self.takes[task]
        ticks = int(self.instance.durations[task, k])
        self.start[task], self._finish[task] = begin, begin + ticks
        self._free_at[k] = begin + ticks if ticks > 0 or self.takes[task] else self._free_at[k]
        for number in self.released_by[task]:
            self._waits_for[number] -= 1
            self._last_end[number] = max(self._last_end[number], self._finish[task])
            if self._waits_for[number] == 0:
                place, size = self._owned[number]
                heapq.heappush(self._ends[place], (self._last_end[number], size))

    def schedule(self) -> DagSchedule:
        """Return the schedule of all tasks."""
        arrays = (np.array(values, dtype=np.int64) for values in (self.gpu, self.start))
        gpu, start = arrays
        return DagSchedule(gpu=gpu, start=start, instance=self.instance)


def _placed(instance: DagInstance, gpu: Sequence[int], order: Sequence[int]) -> DagSchedule:
    """Append the tasks of a list to their GPUs, each as soon as data, GPU and memory allow."""
    line = _Appended(instance, gpu)
    for task in order:
        begin = line.begins(task)
        assert begin is not None  # the list keeps the limits
        line.append(task, begin)
    return line.schedule()


def _first_come(instance: DagInstance, gpu: Sequence[int], priority: Sequence[tuple[float, ...]]) -> DagSchedule | None:
    """Append, time after time, the ready task that can start first; None where nothing fits any more."""
    line = _Appended(instance, gpu)
    after: list[list[int]] = [[] for _ in range(instance.num_tasks)]
    missing = [len(tails) for tails in line.before]
    for head, tails in enumerate(line.before):
        for tail, _ in tails:
            after[tail].append(head)
    ready = {task for task, count in enumerate(missing) if count == 0}
    begins = {task: line.begins(task) for task in ready}
    while ready:
        able = [(begin, priority[task], task) for task, begin in begins.items() if begin is not None]
        if not able:
            return None
        begin, _, task = min(able)
        line.append(task, begin)
        ready.remove(task)
        del begins[task]
        for head in after[task]:
            missing[head] -= 1
            if missing[head] == 0:
                ready.add(head)
        changed = {gpu[task], *(gpu[int(instance.buffer_task[number])] for number in line.released_by[task])}
        begins |= {one: line.begins(one) for one in ready if gpu[one] in changed or one not in begins}
    return line.schedule()


def with_best_starts(instance: DagInstance, schedule: DagSchedule, objective: Objective) -> DagSchedule:
    """Return the schedule with the best starts of its orders, where these are no worse and fit into memory."""
    orders: list[list[int]] = [[] for _ in range(instance.num_gpus)]
    position = {task: number for number, task in enumerate(instance.topological_order.tolist())}
    for task in sorted(position, key=lambda task: (int(schedule.start[task]), position[task])):
        orders[int(schedule.gpu[task])].append(task)
    tidy = OrderedTasks(instance, orders).schedule(objective)
    candidates = [schedule] if tidy is None else [tidy, schedule]
    return min(candidates, key=lambda one: objective_value(instance, one, objective))
