"""An assignment of all tasks that the memory of the GPUs holds, or the proof that there is none; ours.

List schedulers that ran into a memory limit are repeated with such an assignment at hand: a task may then go only
where all tasks that are not placed yet still have a GPU (`home` in `heuristics.dag.timeline`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from heuristics.dag.arrays import dag_arrays

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from heuristics.dag.arrays import DagArrays
    from instances.dag.instance import DagInstance


MOST_STATES = 50_000
"""Placements of the first tasks that are extended, at most, in each of two orders of GPUs; about half a second."""


class Packing(NamedTuple):
    """GPU of every task, shape (n,), None where none was found, and whether it is proved that there is none."""

    home: NDArray[np.int64] | None
    is_infeasible: bool


def pack(instance: DagInstance, most_states: int = MOST_STATES) -> Packing:
    """Put every task on a GPU that may run it so that the bytes of all tasks on a GPU are within its limit.

    Tasks are taken by decreasing memory, those with a single GPU first. The search goes through all GPUs that hold the
    next task and back, first with the GPU that has most memory left, then, if that took too long, with the one that
    has least. It never extends twice what leaves the same memory for the same tasks: GPUs that may run the same tasks
    count as equal. So a search that ends without an assignment proves that there is none. Any schedule needs such an
    assignment, because a task keeps its memory for the whole schedule (`DagInstance`).
    """
    allowed, memory = instance.allowed, instance.task_memory
    total = int(memory.sum())
    free = np.where(instance.gpu_memory >= 0, np.minimum(instance.gpu_memory, total), total)
    home = allowed.argmax(axis=1)
    if not allowed.any(axis=1).all() or total > int(free.sum()):
        return Packing(None, is_infeasible=True)
    heavy = np.flatnonzero(memory > 0)
    order = heavy[np.lexsort((-memory[heavy], allowed[heavy].sum(axis=1) > 1))]
    for prefers_full in (False, True):
        search = _Search(allowed[order], memory[order], free, prefers_full)
        found = search.run(most_states)
        if found is not None:
            home[order] = found
            return Packing(home.astype(np.int64), is_infeasible=False)
        if search.states < most_states:
            return Packing(None, is_infeasible=True)
    return Packing(None, is_infeasible=False)


_KNOWN: WeakKeyDictionary[DagInstance, DagArrays | None] = WeakKeyDictionary()


def arrays_with_home(instance: DagInstance) -> DagArrays | None:
    """Return arrays with which a list scheduler never exceeds a memory limit; None where `pack` found no assignment.

    They are made once per instance.
    """
    if instance not in _KNOWN:
        home = pack(instance).home
        _KNOWN[instance] = None if home is None else dag_arrays(instance)._replace(home=home)
    return _KNOWN[instance]


class _Search:
    """Depth-first search for the GPUs of tasks in a given order."""

    def __init__(
        self, allowed: NDArray[np.bool_], memory: NDArray[np.int64], free: NDArray[np.int64], prefers_full: bool
    ) -> None:
        self._gpus = [np.flatnonzero(row).tolist() for row in allowed]
        self._memory, self._free, self._prefers_full = memory.tolist(), free.tolist(), prefers_full
        alike: dict[bytes, list[int]] = {}
        for k, column in enumerate(allowed.T):
            alike.setdefault(column.tobytes(), []).append(k)
        self._alike = list(alike.values())
        self._left = np.append(memory[::-1].cumsum()[::-1], 0).tolist()
        self._seen: set[tuple[int, ...]] = set()
        self.states = 0

    def run(self, most_states: int) -> list[int] | None:
        """Return the GPU of every task, None where there is none or more states would be needed."""
        chosen, stack = list[int](), [self._choices(0)]
        while stack and self.states < most_states:
            if len(chosen) == len(stack):  # the last choice led nowhere
                self._free[chosen[-1]] += self._memory[len(chosen) - 1]
                chosen.pop()
            k = next(stack[-1], None)
            if k is None:
                stack.pop()
                continue
            self._free[k] -= self._memory[len(chosen)]
            chosen.append(k)
            if len(chosen) == len(self._memory):
                return chosen
            if self._is_new(len(chosen)):
                stack.append(self._choices(len(chosen)))
        return [] if not self._memory else None

    def _choices(self, task: int) -> Iterator[int]:
        """Yield the GPUs that hold a task now."""
        if task == len(self._memory):
            return iter(())
        free, size, sign = self._free, self._memory[task], 1 if self._prefers_full else -1
        return iter(sorted((k for k in self._gpus[task] if free[k] >= size), key=lambda k: sign * free[k]))

    def _is_new(self, task: int) -> bool:
        """Say whether the memory left before a task has not been seen yet and may be enough."""
        self.states += 1
        if self._left[task] > sum(self._free):
            return False
        state = (task, *(bytes for gpus in self._alike for bytes in sorted(self._free[k] for k in gpus)))
        is_new = state not in self._seen
        self._seen.add(state)
        return is_new
