"""From the labels of one layer to those of the next: what one more start implies for all waiting tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.down_sets.labels import DIGEST, has_bit, hash_of, keep
from formulations.dag.down_sets.search_space import NONE, NOWHERE
from instances.kernels import inner_kernel, kernel, overwrite

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formulations.dag.down_sets.labels import Labels
    from formulations.dag.down_sets.search_space import SearchSpace


class Look(NamedTuple):
    """What there is to know of the tasks of a label, and scratch for its children."""

    is_waiting: NDArray[np.bool_]  # (n,), whether a task has not started
    is_free: NDArray[np.bool_]  # (n,), whether it waits and all its predecessors have started
    earliest: NDArray[np.int32]  # (n,), its least head
    is_due: NDArray[np.bool_]  # (n,), scratch
    first_finish: NDArray[np.int32]  # (m,), scratch


@inner_kernel
def extend(
    space: SearchSpace,
    before: NDArray[np.int32],
    waiting: NDArray[np.int64],
    look: Look,
    task: int,
    gpu: int,
    free_memory: NDArray[np.int64],
    heads: NDArray[np.int32],
) -> bool:
    """Compute all heads once a task has started as early as it can; False if some task is left without a GPU.

    Starts never decrease from one label to the next. So every other task starts when this one does or later; on its GPU
    not before it has finished (tasks of duration 0 occupy nothing), elsewhere not before its data is there; and later
    tasks follow along the edges.

    A free task that would fit on a GPU before this start is not allowed there any more: in a schedule that puts it
    there later it could be moved to the front, with all other starts unchanged. One that could begin there before this
    start is not the next task on another GPU, by the same argument: it waits for the first one that may be. (Of the
    schedules that complete a label, one of the least sum of starts is therefore never lost; docs/formulations.md,
    section 10.2.)

    Parameters
    ----------
    before
        Heads of the label, shape (n, m).
    waiting
        Tasks that have not started, in order.
    look
        What is known of these tasks; its scratch is overwritten.
    task, gpu
        The task that starts, and its GPU; it waits, is free and allowed there.
    free_memory
        Memory that is left on the limited GPUs after this start, shape (limited GPUs,).
    heads
        Result, shape (n, m).
    """
    is_waiting, is_free, earliest, is_due, first_finish = look
    durations, latest_start = space.durations, space.latest_start  # looked up once: every look counts references
    offsets, predecessors, delay = space.offsets, space.predecessors, space.delay
    successor_offsets, successors = space.successor_offsets, space.successors
    m = durations.shape[1]
    start, duration = before[task, gpu], durations[task, gpu]
    finish = start + duration
    for row in range(len(heads)):
        overwrite(heads[row], before[row])
    is_due[:] = False
    _find_first_finish(durations, before, waiting, is_free, task, start, first_finish)
    for l in range(m):
        if l != gpu:
            heads[task, l] = NOWHERE
    for entry in range(successor_offsets[task], successor_offsets[task + 1]):
        is_due[successors[entry]] = True
    # Invariant: heads of the waiting tasks so far are final, and a task is due if a head of a predecessor of it rose.
    for position in range(len(waiting)):
        other = waiting[position]
        if other == task or (earliest[other] >= finish and earliest[other] >= start and not is_due[other]):
            continue
        is_possible, is_new = False, False
        for l in range(m):
            head = before[other, l]
            if head >= NOWHERE:
                continue
            head = max(head, start)
            if durations[other, l] > 0:
                if is_free[other] and before[other, l] + durations[other, l] <= start:
                    head = NOWHERE  # it would have been first
                if l == gpu and duration > 0:
                    head = max(head, finish)
                elif is_free[other] and before[other, l] < start:
                    head = max(head, first_finish[l])
            if is_due[other]:
                head = max(head, _data_arrival(offsets, predecessors, delay, durations, is_waiting, heads, other, l))
            if head > latest_start[other, l]:
                head = NOWHERE
            if head != before[other, l]:
                heads[other, l] = head
                is_new = True
            is_possible = is_possible or head < NOWHERE
        if not is_possible:
            return False
        if is_new:
            for entry in range(successor_offsets[other], successor_offsets[other + 1]):
                is_due[successors[entry]] = True
    return len(free_memory) == 0 or _fits(space, heads, waiting, task, free_memory)


@inner_kernel
def _find_first_finish(
    durations: NDArray[np.int32],
    before: NDArray[np.int32],
    waiting: NDArray[np.int64],
    is_free: NDArray[np.bool_],
    task: int,
    start: int,
    first_finish: NDArray[np.int32],
) -> None:
    """Write when the next task on each GPU ends at the earliest, leaving out those that could begin before a start."""
    first_finish[:] = NOWHERE
    for position in range(len(waiting)):
        other = waiting[position]
        if other == task:
            continue
        for l in range(len(first_finish)):
            head, duration = before[other, l], durations[other, l]
            if head < NOWHERE and duration > 0 and (head >= start or not is_free[other]):
                first_finish[l] = min(first_finish[l], max(head, start) + duration)


@inner_kernel
def _data_arrival(
    offsets: NDArray[np.int64],
    predecessors: NDArray[np.int64],
    delay: NDArray[np.int32],
    durations: NDArray[np.int32],
    is_waiting: NDArray[np.bool_],
    heads: NDArray[np.int32],
    other: int,
    gpu: int,
) -> np.int32:
    """Return when the data of a task's waiting predecessors can be on a GPU at the earliest.

    The task that starts now counts as waiting, and has a head on one GPU.
    """
    latest = np.int32(0)
    for entry in range(offsets[other], offsets[other + 1]):
        neighbour, arrival = predecessors[entry], np.int32(NOWHERE)
        if not is_waiting[neighbour]:
            continue
        for l in range(durations.shape[1]):
            if heads[neighbour, l] < NOWHERE:
                here = np.int32(heads[neighbour, l] + durations[neighbour, l] + delay[entry, gpu, l])
                arrival = min(arrival, here)
        latest = max(latest, arrival)
    return latest


@inner_kernel
def _fits(
    space: SearchSpace, heads: NDArray[np.int32], waiting: NDArray[np.int64], task: int, free_memory: NDArray[np.int64]
) -> bool:
    """Take limited GPUs from tasks that do not fit into the memory that is left; False if a task has no GPU left."""
    for position in range(len(waiting)):
        other = waiting[position]
        if other == task:
            continue
        for q in range(len(free_memory)):
            if space.memory[other] > free_memory[q]:
                heads[other, space.limited[q]] = NOWHERE
        is_possible = False
        for l in range(heads.shape[1]):
            is_possible = is_possible or heads[other, l] < NOWHERE
        if not is_possible:
            return False
    return True


@inner_kernel
def end_of_job(space: SearchSpace, heads: NDArray[np.int32], task: int, gpu: int) -> int:
    """Return a bound on the completion time of a task's job if the task sits on a GPU."""
    return heads[task, gpu] + space.durations[task, gpu] + space.job_tail[task, gpu]


@inner_kernel
def weighted_completion(
    space: SearchSpace,
    completion: NDArray[np.int32],
    heads: NDArray[np.int32],
    waiting: NDArray[np.int64],
    except_for: int,
    least: NDArray[np.int64],
) -> int:
    """Return a lower bound on the weighted sum of completion times.

    Parameters
    ----------
    completion
        Completion of the started tasks of every job with their tails, shape (jobs,).
    heads, waiting, except_for
        Heads of all tasks, the tasks that have not started, and one of them that does not count.
    least
        Scratch, shape (jobs,).
    """
    overwrite(least, completion)
    for position in range(len(waiting)):  # invariant: least bounds the completion of every job by the tasks so far
        task = waiting[position]
        if task == except_for:
            continue
        end = NOWHERE
        for l in range(heads.shape[1]):
            if heads[task, l] < NOWHERE:
                end = min(end, end_of_job(space, heads, task, l))
        job = space.job_of_task[task]
        least[job] = max(least[job], end)
    total = 0
    for job in range(len(least)):
        total += space.weight[job] * least[job]
    return total


@kernel
def expand(
    space: SearchSpace,
    labels: Labels,
    sequence: NDArray[np.int64],
    children: Labels,
    part: int,
    parts: int,
    halt: NDArray[np.bool_],
) -> None:
    """Start one more task after every label, in all ways, and keep the children whose down-set belongs to one part.

    Parameters
    ----------
    labels, sequence
        One part of a layer, and the places of its labels that go on, the best estimates first.
    children
        Filled; when its places are used up, children without one are counted as dropped.
    part, parts
        Number of the part, and number of parts, by the hash of the down-set: each can be filled by a thread of its own.
    halt
        Shape (1,); true ends the expansion early.
    """
    n, m = space.durations.shape
    order, heads = np.empty(n, dtype=np.int64), np.empty((1, n, m), dtype=np.int32)
    is_free = np.zeros(n, dtype=np.bool_)
    look = Look(
        is_waiting=np.zeros(n, dtype=np.bool_),
        is_free=is_free,
        earliest=np.empty(n, dtype=np.int32),
        is_due=np.zeros(n, dtype=np.bool_),
        first_finish=np.empty(m, dtype=np.int32),
    )
    has_like, digest = np.zeros(m, dtype=np.bool_), np.empty(DIGEST, dtype=np.int32)
    jobs, limited = len(space.weight), len(space.limited)
    bits, least = np.zeros(labels.started.shape[1], dtype=np.uint64), np.zeros(jobs, dtype=np.int64)
    completion, used = np.zeros((1, jobs), dtype=np.int32), np.zeros((1, limited), dtype=np.int64)
    free_memory, child = np.zeros(limited, dtype=np.int64), heads[0]
    for place in sequence:  # invariant: the children of all labels before this place are kept, dominated or refuted
        if halt[0]:
            return
        before, started = labels.heads[place], labels.started[place]
        waiting = order[: _look_at(space, before, started, order, look)]
        taken = labels.used[place]
        for gpu in range(m):
            like = space.like_gpu[gpu]
            has_like[gpu] = like >= 0 and _compare_gpus(space, before, taken, waiting, NONE, like, gpu) == 0
        for position in range(len(waiting)):
            task = waiting[position]
            like = space.like_task[task]
            if not is_free[task] or (like >= 0 and not has_bit(started, like)):
                continue
            overwrite(bits, started)
            bits[task // 64] |= np.uint64(1) << np.uint64(task % 64)
            hashed = hash_of(bits)
            if (hashed >> np.uint64(40)) % np.uint64(parts) != np.uint64(part):
                continue
            for gpu in range(m):
                if before[task, gpu] >= NOWHERE or has_like[gpu]:
                    continue
                fits = True
                for q in range(limited):
                    used[0, q] = labels.used[place, q]
                    if space.limited[q] == gpu:
                        used[0, q] += space.memory[task]
                    free_memory[q] = space.capacity[q] - used[0, q]
                    fits = fits and free_memory[q] >= 0
                if not fits or not extend(space, before, waiting, look, task, gpu, free_memory, child):
                    continue
                if jobs > 0:
                    completion[0] = labels.completion[place]
                    job = space.job_of_task[task]
                    completion[0, job] = max(completion[0, job], end_of_job(space, child, task, gpu))
                    if weighted_completion(space, completion[0], child, waiting, task, least) > space.most:
                        continue
                _rename_gpus(space, child, used[0], waiting, task)
                keep(children, bits, hashed, heads, completion, used, waiting, task, digest)


@inner_kernel
def _compare_gpus(
    space: SearchSpace,
    heads: NDArray[np.int32],
    used: NDArray[np.int64],
    waiting: NDArray[np.int64],
    except_for: int,
    one: int,
    other: int,
) -> int:
    """Compare what may follow on two interchangeable GPUs: negative, 0 or positive as the first is before the second.

    If it is 0 the two may exchange their names, and whatever may follow stays the same.
    """
    for position in range(len(waiting)):
        task = waiting[position]
        if task != except_for and heads[task, one] != heads[task, other]:
            return -1 if heads[task, one] < heads[task, other] else 1
    p, q = space.place_of_limit[one], space.place_of_limit[other]  # both are limited, or none is
    return 0 if p == NONE else used[p] - used[q]


@inner_kernel
def _rename_gpus(
    space: SearchSpace, heads: NDArray[np.int32], used: NDArray[np.int64], waiting: NDArray[np.int64], except_for: int
) -> None:
    """Rename interchangeable GPUs so that labels that differ in their names alone become equal."""
    for last in range(len(space.like_gpu)):  # invariant: the GPUs before this one are in order within their class
        gpu = last
        while space.like_gpu[gpu] >= 0:
            like = space.like_gpu[gpu]
            if _compare_gpus(space, heads, used, waiting, except_for, like, gpu) <= 0:
                break
            for task in range(len(heads)):
                heads[task, like], heads[task, gpu] = heads[task, gpu], heads[task, like]
            p, q = space.place_of_limit[like], space.place_of_limit[gpu]
            if p != NONE:
                used[p], used[q] = used[q], used[p]
            gpu = like


@inner_kernel
def _look_at(
    space: SearchSpace, heads: NDArray[np.int32], started: NDArray[np.uint64], waiting: NDArray[np.int64], look: Look
) -> int:
    """Find the tasks that wait (and return how many), those that are free, and their least heads."""
    is_waiting, is_free, earliest = look.is_waiting, look.is_free, look.earliest
    n, m = heads.shape
    count = 0
    for position in range(n):
        task = space.order[position]
        earliest[task] = NOWHERE
        has_started = has_bit(started, task)
        for k in range(m):
            earliest[task] = min(earliest[task], heads[task, k])
        is_waiting[task] = not has_started
        if has_started:
            continue
        waiting[count] = task
        count += 1
        is_free[task] = True
        for entry in range(space.offsets[task], space.offsets[task + 1]):
            is_free[task] = is_free[task] and has_bit(started, space.predecessors[entry])
    return count
