"""List scheduling that chooses task and GPU together: the builder behind ETF, min-min and max-min (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

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

EARLIEST_START = 0
"""Rule: the pair that starts first; ties to the higher level, then the lowest index."""
SMALLEST_FINISH = 1
"""Rule: the task whose best finish is smallest; ties to the lowest index."""
LARGEST_FINISH = 2
"""Rule: the task whose best finish is largest; ties to the lowest index."""


@njit(cache=True)
def _best_gpu(arrays: DagArrays, timeline: Timeline, task: int, ready: NDArray[np.int64], rule: int) -> int:
    """Return the GPU with the earliest start (or finish) of a ready task; ties to the smaller finish, then index."""
    best = -1
    best_first, best_second = 0, 0
    for k in range(len(ready)):
        if not arrays.allowed[task, k] or room(arrays, timeline, task, k) < 0:
            continue
        start = earliest_start(timeline, k, ready[k], arrays.durations[task, k], False)
        finish = start + arrays.durations[task, k]
        first, second = (start, finish) if rule == EARLIEST_START else (finish, start)
        if best < 0 or first < best_first or (first == best_first and second < best_second):
            best, best_first, best_second = k, first, second
    return best if best >= 0 else least_overflow(arrays, timeline, task)


@njit(cache=True)
def _goes_first(
    rule: int,
    level: NDArray[np.float64],
    start: int,
    finish: int,
    task: int,
    other_start: int,
    other_finish: int,
    other: int,
) -> bool:
    """Say whether a ready task is chosen before another one."""
    if rule == EARLIEST_START:
        if start != other_start:
            return start < other_start
        if level[task] != level[other]:
            return level[task] > level[other]
    elif finish != other_finish:
        return finish < other_finish if rule == SMALLEST_FINISH else finish > other_finish
    return task < other


@njit(cache=True)
def build_dynamic(arrays: DagArrays, rule: int, level: NDArray[np.float64]) -> Timeline:
    """Place all tasks, each time the (task, GPU) pair that the rule prefers among all ready tasks; no insertion.

    A GPU's state changes only when something is placed on it, so a ready task's best GPU is looked for again only
    where that was the GPU just used.

    Parameters
    ----------
    arrays
        The instance.
    rule
        One of the rules above.
    level
        Breaks ties of `EARLIEST_START`, shape (n,).
    """
    n, m = arrays.durations.shape
    timeline = new_timeline(arrays)
    missing = arrays.pred_offsets[1:] - arrays.pred_offsets[:-1]
    ready_at = np.empty((n, m), dtype=np.int64)
    waiting = np.empty(n, dtype=np.int64)  # the ready tasks
    best_gpu = np.empty(n, dtype=np.int64)
    best_start = np.empty(n, dtype=np.int64)
    best_finish = np.empty(n, dtype=np.int64)
    num_waiting = 0
    for task in range(n):
        if missing[task] == 0:
            waiting[num_waiting] = task
            num_waiting += 1
    num_new = num_waiting
    used = -1
    while num_waiting > 0:
        chosen = -1
        for index in range(num_waiting):
            task = waiting[index]
            is_new = index >= num_waiting - num_new
            if is_new:
                ready_times(arrays, timeline, task, ready_at[task])
            if is_new or best_gpu[task] == used:
                k = _best_gpu(arrays, timeline, task, ready_at[task], rule)
                best_gpu[task] = k
                best_start[task] = earliest_start(timeline, k, ready_at[task, k], arrays.durations[task, k], False)
                best_finish[task] = best_start[task] + arrays.durations[task, k]
            if chosen < 0 or _goes_first(
                rule,
                level,
                best_start[task],
                best_finish[task],
                task,
                best_start[waiting[chosen]],
                best_finish[waiting[chosen]],
                waiting[chosen],
            ):
                chosen = index
        task = waiting[chosen]
        used = best_gpu[task]
        place(arrays, timeline, task, used, best_start[task])
        num_waiting -= 1
        waiting[chosen] = waiting[num_waiting]
        num_new = 0
        for entry in range(arrays.succ_offsets[task], arrays.succ_offsets[task + 1]):
            successor = arrays.succ_tasks[entry]
            missing[successor] -= 1
            if missing[successor] == 0:
                waiting[num_waiting] = successor
                num_waiting += 1
                num_new += 1
    return timeline
