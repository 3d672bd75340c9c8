"""List scheduling that chooses task and GPU together: the builder, ETF, min-min and max-min (Numba).

Where a method runs into a memory limit, see `within_memory`. Its choices ignore contention (what transfers share);
`retime` makes the schedule keep it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import place_by_list, schedule_of, within_memory
from heuristics.dag.network_interfaces import new_nics
from heuristics.dag.priorities import static_levels
from heuristics.dag.timeline import (
    Placement,
    Timeline,
    earliest_free_start,
    least_overflow,
    memory_left,
    new_timeline,
    place,
    ready_times,
)
from instances.dag.contention import Contention
from instances.kernels import brief_kernel, inlined_kernel, inner_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.arrays import DagArrays
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


EARLIEST_START = 0
"""Rule: the pair that starts first; ties to the higher level, then the lowest index."""
SMALLEST_FINISH = 1
"""Rule: the task whose best finish is smallest; ties to the lowest index."""
LARGEST_FINISH = 2
"""Rule: the task whose best finish is largest; ties to the lowest index."""


@inlined_kernel
def _start_on(arrays: DagArrays, timeline: Timeline, task: int, k: int, ready: int) -> int:
    """Return the earliest start of a task on GPU k after all tasks that run there."""
    count = timeline.num_slots[k]
    return earliest_free_start(
        timeline.slot_start[k], timeline.slot_finish[k], count, ready, arrays.durations[task, k], False
    )


@inlined_kernel
def _best_gpu(arrays: DagArrays, timeline: Timeline, task: int, ready: NDArray[np.int64], rule: int) -> int:
    """Return the GPU with the earliest start (or finish) of a ready task; ties to the smaller finish, then index."""
    best = -1
    best_first, best_second = 0, 0
    for k in range(len(ready)):
        if not arrays.allowed[task, k] or memory_left(arrays, timeline, task, k) < 0:
            continue
        start = _start_on(arrays, timeline, task, k, ready[k])
        finish = start + arrays.durations[task, k]
        first, second = (start, finish) if rule == EARLIEST_START else (finish, start)
        if best < 0 or first < best_first or (first == best_first and second < best_second):
            best, best_first, best_second = k, first, second
    return best if best >= 0 else least_overflow(arrays, timeline, task)


@inlined_kernel
def _goes_first(
    rule: int, level: NDArray[np.float64], start: NDArray[np.int64], finish: NDArray[np.int64], task: int, other: int
) -> bool:
    """Say whether a ready task is chosen before another one, given the best start and finish of each."""
    if rule == EARLIEST_START:
        if start[task] != start[other]:
            return start[task] < start[other]
        if level[task] != level[other]:
            return level[task] > level[other]
    elif finish[task] != finish[other]:
        return finish[task] < finish[other] if rule == SMALLEST_FINISH else finish[task] > finish[other]
    return task < other


@inner_kernel
def _first_free(timeline: Timeline) -> int:
    """Return when the first GPU has finished all tasks placed on it."""
    earliest = 2**62
    for k in range(len(timeline.num_slots)):
        if timeline.num_slots[k] == 0:
            return 0
        earliest = min(earliest, timeline.slot_finish[k, timeline.num_slots[k] - 1])
    return earliest


@brief_kernel()
def build_dynamic(arrays: DagArrays, rule: int, level: NDArray[np.float64]) -> Placement:
    """Place all tasks, each time the (task, GPU) pair that the rule prefers among all ready tasks; no insertion.

    A GPU's state changes only when a task is placed on it, so a ready task's best GPU is out of date only where that
    GPU was used since. Best starts and finishes never fall, and none is before the first GPU is free; where the
    smallest one is wanted, a task whose lower bounds already lose is not examined again.

    The rule is one of those above; the level of each task, shape (n,), breaks ties of `EARLIEST_START`.
    """
    n, m = arrays.durations.shape
    timeline = new_timeline(arrays)
    missing = arrays.pred_offsets[1:] - arrays.pred_offsets[:-1]
    ready_at = np.empty((n, m), dtype=np.int64)
    waiting = np.empty(n, dtype=np.int64)  # the ready tasks
    best_gpu = np.empty(n, dtype=np.int64)
    best_start = np.empty(n, dtype=np.int64)
    best_finish = np.empty(n, dtype=np.int64)
    times_used = np.zeros(m, dtype=np.int64)  # number of tasks placed on each GPU
    seen_used = np.empty(n, dtype=np.int64)  # that number for a task's best GPU when it was found
    shortest = np.full(n, np.int64(2**62))
    for task in range(n):
        for k in range(m):
            if arrays.allowed[task, k]:
                shortest[task] = min(shortest[task], arrays.durations[task, k])
    num_waiting = 0
    for task in range(n):
        if missing[task] == 0:
            waiting[num_waiting] = task
            num_waiting += 1
    num_new = num_waiting
    while num_waiting > 0:
        chosen = -1
        first_free = _first_free(timeline)
        for index in range(num_waiting):
            task = waiting[index]
            is_new = index >= num_waiting - num_new
            if is_new:
                ready_times(arrays, timeline, task, ready_at[task])
            elif rule != LARGEST_FINISH and chosen >= 0:
                if shortest[task] > 0:  # a task of duration 0 need not wait for a free GPU
                    best_start[task] = max(best_start[task], first_free)
                    best_finish[task] = max(best_finish[task], first_free + shortest[task])
                if not _goes_first(rule, level, best_start, best_finish, task, waiting[chosen]):
                    continue
            has_home = len(timeline.home) > 0  # then what fits on a GPU changes with tasks placed elsewhere
            if is_new or has_home or seen_used[task] != times_used[best_gpu[task]]:
                k = _best_gpu(arrays, timeline, task, ready_at[task], rule)
                best_gpu[task], seen_used[task] = k, times_used[k]
                best_start[task] = _start_on(arrays, timeline, task, k, ready_at[task, k])
                best_finish[task] = best_start[task] + arrays.durations[task, k]
            if chosen < 0 or _goes_first(rule, level, best_start, best_finish, task, waiting[chosen]):
                chosen = index
        task = waiting[chosen]
        place(arrays, timeline, task, best_gpu[task], best_start[task])
        times_used[best_gpu[task]] += 1
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
    return Placement(timeline.gpu, timeline.start, timeline.overflow[0])


def retime(instance: DagInstance, placement: Placement, contention: Contention) -> DagSchedule | None:
    """Keep GPUs and the order of starts, and start every task as early as contention allows; ours.

    Tasks are taken in order of start (ties: predecessors first); the transfers to each task are booked as in `heft`,
    then it starts after them and after the tasks that are already on its GPU. Thus methods whose choices ignore
    contention yield schedules that keep it. Without contention the schedule stays as it is. Returns None where the
    placement exceeds a memory limit.
    """
    nics = new_nics(instance, contention)
    if nics is None or placement.overflow > 0:
        return schedule_of(instance, placement)
    position = np.empty(instance.num_tasks, dtype=np.int64)
    position[instance.topological_order] = np.arange(instance.num_tasks)
    priority = np.empty(instance.num_tasks)
    priority[np.lexsort((position, placement.start))] = -np.arange(instance.num_tasks, dtype=np.float64)
    arrays = dag_arrays(instance)
    # All tasks are pinned to GPUs on which they fit together, so none is moved to another GPU.
    retimed = place_by_list(arrays, priority, pinned=placement.gpu, insertion=False, nics=nics)
    return schedule_of(instance, retimed, nics)


def etf(instance: DagInstance, *, contention: Contention = Contention.NONE) -> DagSchedule | None:
    """Place the pair of ready task and GPU that starts first: earliest task first.

    References
    ----------
    Hwang, Chow, Anger and Lee (1989), Scheduling Precedence Graphs in Systems with Interprocessor Communication Times,
    SIAM J. Computing 18(2): ties by static level. Deviations: static levels from mean durations, because the original
    has identical processors only; among GPUs with the same start the smaller finish; memory and releases as in `heft`.
    """
    return _schedule_dynamically(instance, EARLIEST_START, contention)


def min_min(instance: DagInstance, *, contention: Contention = Contention.NONE) -> DagSchedule | None:
    """Place the ready task whose best finish is smallest.

    References
    ----------
    Ibarra and Kim (1977), J. ACM 24(2), for independent tasks. Deviation: applied to the ready tasks at every step,
    with transfers in the finish; memory and releases as in `heft`.
    """
    return _schedule_dynamically(instance, SMALLEST_FINISH, contention)


def max_min(instance: DagInstance, *, contention: Contention = Contention.NONE) -> DagSchedule | None:
    """Place the ready task whose best finish is largest; source and deviations as in `min_min`."""
    return _schedule_dynamically(instance, LARGEST_FINISH, contention)


def _schedule_dynamically(instance: DagInstance, rule: int, contention: Contention) -> DagSchedule | None:
    """Return the schedule of `build_dynamic` under contention."""
    level = static_levels(dag_arrays(instance))
    schedule = within_memory(instance, lambda arrays: build_dynamic(arrays, rule, level))
    if schedule is None or Contention(contention) is Contention.NONE:
        return schedule
    return retime(instance, Placement(np.array(schedule.gpu), np.array(schedule.start), 0), contention)
