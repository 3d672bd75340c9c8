"""From the order of tasks on every GPU to a schedule: earliest starts, the least stage span, and needed memory."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from instances.dag.objective import Objective
from instances.dag.schedule import DagSchedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


NEVER = -(2**61)
"""Length of a path where there is none."""


class OrderedTasks:
    """Tasks with a GPU and a place in its order each: a graph of what waits for what, and its longest paths.

    Parameters
    ----------
    orders
        All tasks of every GPU in the order in which they run, by GPU.
    """

    def __init__(self, instance: DagInstance, orders: Sequence[Sequence[int]]) -> None:
        n = instance.num_tasks
        self.instance, self.orders = instance, [list(tasks) for tasks in orders]
        self.gpu = np.zeros(n, dtype=np.int64)
        for k, tasks in enumerate(self.orders):
            self.gpu[list(tasks)] = k
        gpus = self.gpu.tolist()
        self.duration = [int(instance.durations[task, k]) for task, k in enumerate(gpus)]
        self._after: list[list[tuple[int, int]]] = [[] for _ in range(n)]  # task, ticks from start to start at least
        for edge, (tail, head) in enumerate(instance.edges.tolist()):
            delay = instance.transfer_delay(edge, gpus[tail], gpus[head])
            self._after[tail].append((head, self.duration[tail] + delay))
        for tasks in self.orders:
            for one, other in pairwise(tasks):
                self._after[one].append((other, self.duration[one]))
        self._topological = self._sorted()

    @property
    def is_deadlocked(self) -> bool:
        """Whether the orders wait for each other in a circle."""
        return len(self._topological) < self.instance.num_tasks

    def _sorted(self) -> list[int]:
        """Return the tasks in a topological order, without those on or behind a circle."""
        missing = [0] * self.instance.num_tasks
        for heads in self._after:
            for head, _ in heads:
                missing[head] += 1
        ready = [task for task, count in enumerate(missing) if count == 0]
        for task in ready:
            for head, _ in self._after[task]:
                missing[head] -= 1
                if missing[head] == 0:
                    ready.append(head)
        return ready

    def longest(self, start: list[int]) -> list[int]:
        """Return starts that are at least those given and keep all waiting; `NEVER` where nothing leads to."""
        start = list(start)
        for task in self._topological:
            begin = start[task]
            if begin > NEVER:
                for head, ticks in self._after[task]:
                    if begin + ticks > start[head]:
                        start[head] = begin + ticks
        return start

    def earliest(self) -> list[int]:
        """Return the earliest starts, which are the best for every objective that no later start can improve."""
        return self.longest(self.instance.release[self.instance.job_of_task].tolist())

    def least_span(self) -> list[int]:
        """Return starts of the least stage span.

        With the first tasks of the GPUs at x, a GPU b ends at the largest, over GPUs a, of x[a] + D[a,b], the longest
        path from the first task of a to the end of the last one of b. So a span T is possible exactly if the
        differences x[b] - x[a] >= D[a,b] - T and x[b] - x[a] >= P[a,b] (longest path between first tasks) have a
        solution; the least T is found by halving. Releases are met by moving everything.
        """
        used = [k for k, tasks in enumerate(self.orders) if tasks]
        between = np.full((len(used), len(used)), NEVER)
        until_end = np.full((len(used), len(used)), NEVER)
        for row, k in enumerate(used):
            begin = [NEVER] * self.instance.num_tasks
            begin[self.orders[k][0]] = 0
            begin = self.longest(begin)
            for column, other in enumerate(used):
                first, last = self.orders[other][0], self.orders[other][-1]
                between[row, column] = begin[first]
                until_end[row, column] = NEVER if begin[last] == NEVER else begin[last] + self.duration[last]
        low = int(until_end.diagonal().max(initial=0)) - 1
        high = max(self._span(self.earliest()), low + 1)
        offsets = _offsets(between, until_end, high)
        while high - low > 1:
            middle = (low + high) // 2
            found = _offsets(between, until_end, middle)
            low, high, offsets = (middle, high, offsets) if found is None else (low, middle, found)
        start = [NEVER] * self.instance.num_tasks
        for k, offset in zip(used, [] if offsets is None else offsets.tolist(), strict=True):
            start[self.orders[k][0]] = offset
        start = self.longest(start)
        release = self.instance.release[self.instance.job_of_task].tolist()
        late = max((wanted - begin for wanted, begin in zip(release, start, strict=True)), default=0)
        return [begin + max(late, 0) for begin in start]

    def _span(self, start: list[int]) -> int:
        """Return the stage span."""
        ends = [(start[tasks[0]], start[tasks[-1]] + self.duration[tasks[-1]]) for tasks in self.orders if tasks]
        return max((last - first for first, last in ends), default=0)

    def schedule(self, objective: Objective) -> DagSchedule | None:
        """Return the best schedule of these orders; None where they deadlock or need more memory than there is."""
        if self.is_deadlocked:
            return None
        start = self.least_span() if Objective(objective) is Objective.STAGE_SPAN else self.earliest()
        starts = np.array(start, dtype=np.int64)
        if not fits_memory(self.instance, self.gpu, starts):
            return None
        return DagSchedule(gpu=self.gpu, start=starts, instance=self.instance)


def _offsets(between: NDArray[np.int64], until_end: NDArray[np.int64], span: int) -> NDArray[np.int64] | None:
    """Return starts of the first tasks of the GPUs within a span, the earliest from 0 on; None where there are none."""
    needed = np.maximum(between, np.where(until_end > NEVER, until_end - span, NEVER))
    offsets = np.zeros(len(between), dtype=np.int64)
    for _ in range(len(between) + 1):
        later = np.maximum(offsets, (offsets[:, None] + needed).max(axis=0, initial=0))
        if np.array_equal(later, offsets):
            return offsets
        offsets = later
    return None


def fits_memory(instance: DagInstance, gpu: NDArray[np.int64], start: NDArray[np.int64]) -> bool:
    """Say whether tasks and live buffers fit on every GPU at every tick."""
    finish = start + instance.durations[np.arange(instance.num_tasks), gpu]
    released = np.full(instance.num_buffers, np.iinfo(np.int64).min)
    np.maximum.at(released, instance.buffer_releases[:, 0], finish[instance.buffer_releases[:, 1]])
    begun, place = start[instance.buffer_task], gpu[instance.buffer_task]
    held = np.bincount(gpu, weights=instance.task_memory, minlength=instance.num_gpus).astype(np.int64)
    for k in np.flatnonzero(instance.gpu_memory >= 0):
        mine = np.flatnonzero((place == k) & (begun < released))
        ticks = np.concatenate([released[mine], begun[mine]])
        change = np.concatenate([-instance.buffer_bytes[mine], instance.buffer_bytes[mine]])
        order = np.argsort(ticks, kind="stable")  # what is released at a tick is free for what begins there
        level = np.cumsum(change[order])
        if held[k] + max(int(level.max(initial=0)), 0) > instance.gpu_memory[k]:
            return False
    return True
