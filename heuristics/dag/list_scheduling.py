"""List scheduling with fixed priorities: the builder, HEFT, CPOP, PEFT, round-robin and random placement (Numba).

Every method that runs into a memory limit is repeated with an assignment at hand that memory holds (`within_memory`);
it returns None where no such assignment was found. Under contention (what transfers share) the earliest finish
includes the wait for the network interfaces, and the transfers to a task are booked with it (`book_transfers`; ours);
priorities ignore contention.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.dag.arrays import DagArrays, dag_arrays
from heuristics.dag.network_interfaces import book_transfers, clear_nics, new_nics, nic_ready_times
from heuristics.dag.packing import arrays_with_home
from heuristics.dag.priorities import downward_ranks, optimistic_costs, pop, push, upward_ranks
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
)
from instances.dag.contention import Contention
from instances.dag.schedule import DagSchedule
from instances.kernels import brief_kernel, inlined_kernel, inner_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from heuristics.dag.network_interfaces import Nics
    from instances.dag.instance import DagInstance


EARLIEST = 0
"""GPU rule: smallest earliest finish plus bias; ties to the lowest index."""
RANKED = 1
"""GPU rule: GPUs that fit sorted by (earliest finish, index); key u takes position min(c - 1, floor(c u^2))."""
DIRECT = 2
"""GPU rule: key u takes position min(c - 1, floor(c u)) among the GPUs that could hold the task alone, by index."""
UNIFORM = 3
"""GPU rule: as `DIRECT`, among the GPUs that fit at that moment."""
CYCLIC = 4
"""GPU rule: the next GPU that fits after that of the previously placed task, in cyclic index order."""


NO_BIAS = np.empty((0, 0))
NO_PINS = np.empty(0, dtype=np.int64)
NOT_PLACED = np.empty((0, 0), dtype=np.int64)


@inlined_kernel
def _position_in_order(scores: NDArray[np.float64], position: int) -> int:
    """Return the index at a position of the order by (score, index); scores of infinity stand last."""
    for k in range(len(scores)):
        mine, before = scores[k], 0
        for other in range(len(scores)):  # without branches: a selection sort mispredicts most of its own
            before += (scores[other] < mine) | ((scores[other] == mine) & (other < k))
        if before == position:
            return k
    return -1


@inlined_kernel
def _nth_true(flags: NDArray[np.bool_], position: int) -> int:
    """Return the index of the entry at a position among those that are true."""
    for k in range(len(flags)):
        if flags[k]:
            if position == 0:
                return k
            position -= 1
    return -1


@inner_kernel
def _count(flags: NDArray[np.bool_]) -> int:
    """Return how many entries are true."""
    count = 0
    for flag in flags:
        count += flag
    return count


@inner_kernel
def _choose(
    rule: int,
    key: float,
    previous: int,
    best: int,
    allowed: NDArray[np.bool_],
    fits: NDArray[np.bool_],
    scores: NDArray[np.float64],
) -> int:
    """Choose a GPU among those that fit (there is one) by a rule; `best` has the smallest score."""
    count = _count(fits)
    if rule == RANKED:
        return _position_in_order(scores, min(count - 1, math.floor(count * key * key)))
    if rule == DIRECT:
        count = _count(allowed)
        k = _nth_true(allowed, min(count - 1, math.floor(count * key)))
        if fits[k]:
            return k
    elif rule == UNIFORM:
        return _nth_true(fits, min(count - 1, math.floor(count * key)))
    elif rule == CYCLIC:
        for step in range(1, len(fits) + 1):
            k = (previous + step) % len(fits)
            if fits[k]:
                return k
    return best


@inner_kernel
def build(
    arrays: DagArrays,
    priority: NDArray[np.float64],
    rule: int,
    gpu_keys: NDArray[np.float64],
    bias: NDArray[np.float64],
    pinned: NDArray[np.int64],
    insertion: bool,
    nics: Nics | None,
) -> Timeline:
    """Place all tasks, each time the ready one of highest priority, on the GPU that the rule chooses.

    Parameters
    ----------
    priority
        Priority of each task, shape (n,); ties go to the lowest index.
    rule
        One of the GPU rules above.
    gpu_keys
        Key in [0, 1] of each task for the rules that use one, shape (n,) or (0,).
    bias
        Ticks added to the earliest finish when GPUs are compared, shape (n, m) or (0, 0).
    pinned
        GPU that a task takes whenever it fits there, -1 for none, shape (n,) or (0,).
    insertion
        Whether a task may start in an idle gap before tasks that are already placed.
    nics
        Interfaces that transfers contend for; None without contention (then their code is not compiled in). Earlier
        bookings are cleared; a task's transfers are booked when it is placed, see `book_transfers`.
    """
    n, m = arrays.durations.shape
    timeline = new_timeline(arrays)
    if nics is not None:
        clear_nics(nics)
    slot_start, slot_finish, num_slots = timeline.slot_start, timeline.slot_finish, timeline.num_slots
    missing = arrays.pred_offsets[1:] - arrays.pred_offsets[:-1]
    heap = np.empty(n, dtype=np.int64)
    size = 0
    for task in range(n):
        if missing[task] == 0:
            push(heap, size, priority, task)
            size += 1
    ready, starts = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    scores, fits = np.empty(m, dtype=np.float64), np.empty(m, dtype=np.bool_)
    previous = -1
    while size > 0:
        task = pop(heap, size, priority)
        size -= 1
        if nics is None:
            ready_times(arrays, timeline, task, ready)
        else:
            nic_ready_times(arrays, timeline, nics, task, ready)
        best = -1
        for k in range(m):
            fits[k] = arrays.allowed[task, k] and memory_left(arrays, timeline, task, k) >= 0
            scores[k] = np.inf
            if fits[k]:
                starts[k] = earliest_free_start(
                    slot_start[k], slot_finish[k], num_slots[k], ready[k], arrays.durations[task, k], insertion
                )
                scores[k] = starts[k] + arrays.durations[task, k]
                if len(bias):
                    scores[k] += bias[task, k]
                if best < 0 or scores[k] < scores[best]:
                    best = k
        if best < 0:
            chosen = least_overflow(arrays, timeline, task)
            starts[chosen] = earliest_free_start(
                slot_start[chosen],
                slot_finish[chosen],
                num_slots[chosen],
                ready[chosen],
                arrays.durations[task, chosen],
                insertion,
            )
        elif len(pinned) and pinned[task] >= 0 and fits[pinned[task]]:
            chosen = pinned[task]
        elif rule == EARLIEST:
            chosen = best
        else:
            key = gpu_keys[task] if len(gpu_keys) else 0.0
            chosen = _choose(rule, key, previous, best, arrays.allowed[task], fits, scores)
        place(arrays, timeline, task, chosen, starts[chosen])
        if nics is not None:
            book_transfers(arrays, timeline, nics, task, chosen)
        previous = chosen
        for entry in range(arrays.succ_offsets[task], arrays.succ_offsets[task + 1]):
            successor = arrays.succ_tasks[entry]
            missing[successor] -= 1
            if missing[successor] == 0:
                push(heap, size, priority, successor)
                size += 1
    return timeline


@brief_kernel()
def evaluate_keys(
    arrays: DagArrays,
    points: NDArray[np.float64],
    rule: int,
    bias: NDArray[np.float64],
    pinned: NDArray[np.int64],
    insertion: bool,
    weighted: bool,
    nics: Nics | None,
    placed: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Decode points of random keys and return their fitness: (overflow bytes, objective), shape (count, 2).

    A point holds n priority keys, then n GPU keys (absent for `EARLIEST`); points have shape (count, 2n) or (count, n).
    GPUs and starts of the last point are written to `placed`, shape (2, n), unless it is empty. The other parameters
    are those of `build` and `objective_of`. The one entry of list schedulers, so that `build` is compiled once.
    """
    n = len(arrays.release)
    fitness = np.empty((len(points), 2), dtype=np.int64)
    for point in range(len(points)):
        keys = points[point]
        timeline = build(arrays, keys[:n], rule, keys[n:], bias, pinned, insertion, nics)
        fitness[point, 0] = timeline.overflow[0]
        fitness[point, 1] = objective_of(arrays, timeline, weighted)
        if point == len(points) - 1 and len(placed):
            for task in range(n):
                placed[0, task], placed[1, task] = timeline.gpu[task], timeline.start[task]
    return fitness


def place_by_list(
    arrays: DagArrays,
    priority: NDArray[np.float64] | None = None,
    *,
    rule: int = EARLIEST,
    gpu_keys: NDArray[np.float64] | None = None,
    bias: NDArray[np.float64] | None = None,
    pinned: NDArray[np.int64] | None = None,
    insertion: bool = True,
    nics: Nics | None = None,
) -> Placement:
    """Call `build` with defaults for unused parameters; the default priority is the upward rank."""
    keys = upward_ranks(arrays) if priority is None else priority
    point = (keys if gpu_keys is None else np.concatenate([keys, gpu_keys]))[None, :]
    placed = np.empty((2, len(arrays.release)), dtype=np.int64)
    fitness = evaluate_keys(
        arrays,
        np.ascontiguousarray(point, dtype=np.float64),
        rule,
        NO_BIAS if bias is None else bias,
        NO_PINS if pinned is None else pinned,
        insertion,
        False,
        nics,
        placed,
    )
    return Placement(placed[0], placed[1], int(fitness[0, 0]))


def schedule_of(instance: DagInstance, placement: Placement, nics: Nics | None = None) -> DagSchedule | None:
    """Return a kernel's placement and its booked transfers as a schedule; None where it exceeds a memory limit."""
    if placement.overflow > 0:
        return None
    booked = None if nics is None else nics.transfer_start
    return DagSchedule(gpu=placement.gpu, start=placement.start, transfer_start=booked, instance=instance)


def within_memory(
    instance: DagInstance, build_placement: Callable[[DagArrays], Placement], nics: Nics | None = None
) -> DagSchedule | None:
    """Return the schedule of a list scheduler by `placement_within_memory`; None where it exceeds a memory limit."""
    return schedule_of(instance, placement_within_memory(instance, build_placement), nics)


def placement_within_memory(instance: DagInstance, build_placement: Callable[[DagArrays], Placement]) -> Placement:
    """Return the placement of a list scheduler, repeated with `arrays_with_home` where it exceeds a memory limit.

    The first placement that keeps to the limits stays as it is. In the repetition a task fits on a GPU if memory then
    still holds all other tasks somewhere: what is at home there, and not placed yet, may leave for another GPU, one
    task each time. Where the packing found no assignment, the placement that exceeds a limit is returned.
    """
    placement = build_placement(dag_arrays(instance))
    if placement.overflow > 0:
        arrays = arrays_with_home(instance)
        if arrays is not None:
            return build_placement(arrays)
    return placement


def heft(
    instance: DagInstance, *, insertion: bool = True, contention: Contention = Contention.NONE
) -> DagSchedule | None:
    """Place the ready task of highest upward rank on the GPU where it finishes first.

    With ``insertion`` a task may start in an idle gap before tasks that are already placed.

    References
    ----------
    Topcuoglu, Hariri and Wu (2002), Performance-Effective and Low-Complexity Task Scheduling for Heterogeneous
    Computing, IEEE TPDS 13(3). Deviations: mean transfer delay over pairs of different GPUs instead of mean latency
    plus bytes over mean bandwidth; the ready task of highest rank instead of a sorted list (they differ only at
    durations 0); means over allowed GPUs; GPUs with too little memory are skipped, memory is reserved for tasks
    that may run on one GPU only, and where that is not enough see `within_memory`; releases delay starts. See
    docs/methods/list_scheduling.md, section 3.1.
    """
    return _schedule_by_list(instance, contention, insertion=insertion)


def cpop(instance: DagInstance, *, contention: Contention = Contention.NONE) -> DagSchedule | None:
    """Place the tasks of the critical path on one GPU and all others where they finish first.

    References
    ----------
    Topcuoglu, Hariri and Wu (2002), IEEE TPDS 13(3). Deviations: the critical-path GPU is the one that may run most
    tasks of the path, among those the one with the smallest sum of durations; tasks of the path that it may not run, or
    for which it has no memory left, take the earliest finish; otherwise as in `heft`.
    """
    arrays = dag_arrays(instance)
    priority = upward_ranks(arrays) + downward_ranks(arrays)
    return _schedule_by_list(instance, contention, priority, pinned=_pinned_path(arrays, priority))


def peft(instance: DagInstance, *, contention: Contention = Contention.NONE) -> DagSchedule | None:
    """Place tasks by an optimistic cost table: by its row means, each where earliest finish plus entry is smallest.

    References
    ----------
    Arabnejad and Barbosa (2014), List Scheduling Algorithm for Heterogeneous Systems by an Optimistic Cost Table, IEEE
    TPDS 25(3). Deviations: as in `heft`; the table ignores contention.
    """
    arrays = dag_arrays(instance)
    table = optimistic_costs(arrays)
    counts = np.maximum(arrays.allowed.sum(axis=1), 1)
    priority = np.where(arrays.allowed, table, 0.0).sum(axis=1) / counts
    return _schedule_by_list(instance, contention, priority, bias=table)


def round_robin(instance: DagInstance, *, contention: Contention = Contention.NONE) -> DagSchedule | None:
    """Place the tasks in topological order, each on the next GPU that fits, and start each as early as possible."""
    return _schedule_by_list(instance, contention, np.zeros(instance.num_tasks), rule=CYCLIC)


def random_placement(
    instance: DagInstance, rng: np.random.Generator, *, contention: Contention = Contention.NONE
) -> DagSchedule | None:
    """Place the tasks in topological order, each on a random GPU that fits, and start each as early as possible."""
    keys = rng.random(instance.num_tasks)
    return _schedule_by_list(instance, contention, np.zeros(instance.num_tasks), rule=UNIFORM, gpu_keys=keys)


def _schedule_by_list(
    instance: DagInstance, contention: Contention, priority: NDArray[np.float64] | None = None, **choices: Any
) -> DagSchedule | None:
    """Return the schedule of `place_by_list` under contention."""
    nics = new_nics(instance, contention)
    return within_memory(instance, lambda arrays: place_by_list(arrays, priority, nics=nics, **choices), nics)


def _pinned_path(arrays: DagArrays, priority: NDArray[np.float64]) -> NDArray[np.int64]:
    """Pin the tasks of the critical path to the critical-path GPU, shape (n,); -1 elsewhere."""
    pinned = np.full(len(priority), -1, dtype=np.int64)
    path = _critical_path(arrays, priority)
    if not path:
        return pinned
    allowed = arrays.allowed[path]
    work = np.where(allowed, arrays.durations[path], 0).sum(axis=0)
    gpu = int(np.lexsort((work, -allowed.sum(axis=0)))[0])
    for task in path:
        if arrays.allowed[task, gpu]:
            pinned[task] = gpu
    return pinned


def _critical_path(arrays: DagArrays, priority: NDArray[np.float64]) -> list[int]:
    """Walk from the entry task of highest priority along successors of the same priority; ties by index."""
    entries = np.flatnonzero(np.diff(arrays.pred_offsets) == 0)
    if not len(entries):
        return []
    task = int(entries[priority[entries].argmax()])
    path = [task]
    while arrays.succ_offsets[task] < arrays.succ_offsets[task + 1]:
        followers = np.sort(arrays.succ_tasks[arrays.succ_offsets[task] : arrays.succ_offsets[task + 1]])
        task = int(followers[priority[followers].argmax()])
        path.append(task)
    return path
