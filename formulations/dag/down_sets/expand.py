"""From the labels of one layer to those of the next: what one more start means for all tasks that have not started."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from formulations.dag.down_sets.labels import DIGEST, has_bit, hash_of, keep
from formulations.dag.down_sets.search_space import NOWHERE
from formulations.dag.probing.network import inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formulations.dag.down_sets.labels import Labels
    from formulations.dag.down_sets.search_space import SearchSpace


@inner
def extend(
    space: SearchSpace,
    before: NDArray[np.int32],
    waiting: NDArray[np.int64],
    num_waiting: int,
    is_waiting: NDArray[np.bool_],
    is_free: NDArray[np.bool_],
    earliest: NDArray[np.int32],
    task: int,
    gpu: int,
    room: NDArray[np.int64],
    heads: NDArray[np.int32],
    is_due: NDArray[np.bool_],
) -> bool:
    """Compute all heads once a task has started as early as it can; False if some task is left without a GPU.

    Starts never decrease from one label to the next. So every other task starts when this one does or later, on its GPU
    not before it has finished (tasks of duration 0 occupy nothing), elsewhere not before its data is there; and what
    follows along the edges.

    A free task that would fit on this GPU before this start shall not come there any more: in a schedule that puts it
    there later it could be moved to the front, with all other starts as they are. (Of the schedules that complete a
    label, one of the least sum of starts is therefore never lost.)

    Parameters
    ----------
    space
        The instance.
    before
        Heads of the label, shape (n, m).
    waiting, num_waiting
        Tasks that have not started, in order; only the first entries count.
    is_waiting, is_free, earliest
        Whether a task has not started, whether all its predecessors have, and its least head; all of shape (n,).
    task, gpu
        What starts where; it waits, is free and allowed there.
    room
        Memory that is left on the limited GPUs after this start, shape (limited GPUs,).
    heads
        Result, shape (n, m).
    is_due
        Room, shape (n,).
    """
    durations, latest_start = space.durations, space.latest_start  # looked up once: every look counts references
    offsets, predecessors, delay = space.offsets, space.predecessors, space.delay
    successor_offsets, successors = space.successor_offsets, space.successors
    m = durations.shape[1]
    start, duration = before[task, gpu], durations[task, gpu]
    finish = start + duration
    heads[:, :] = before
    is_due[:] = False
    for l in range(m):
        if l != gpu:
            heads[task, l] = NOWHERE
    for entry in range(successor_offsets[task], successor_offsets[task + 1]):
        is_due[successors[entry]] = True
    for position in range(num_waiting):
        other = waiting[position]
        if other == task or (earliest[other] >= finish and earliest[other] >= start and not is_due[other]):
            continue
        is_possible, is_new = False, False
        for l in range(m):
            head = before[other, l]
            if head >= NOWHERE:
                continue
            head = max(head, start)
            if l == gpu and duration > 0 and durations[other, l] > 0:
                if is_free[other] and before[other, l] + durations[other, l] <= start:
                    head = NOWHERE  # it would have been first
                head = max(head, finish)
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
    return len(room) == 0 or _fits(space, heads, waiting, num_waiting, task, room)


@inner
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

    The one that starts now waited until now, and has a head on one GPU.
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


@inner
def _fits(
    space: SearchSpace,
    heads: NDArray[np.int32],
    waiting: NDArray[np.int64],
    num_waiting: int,
    task: int,
    room: NDArray[np.int64],
) -> bool:
    """Take limited GPUs from tasks that do not fit into what memory is left; False if one has none left."""
    for position in range(num_waiting):
        other = waiting[position]
        if other == task:
            continue
        for q in range(len(room)):
            if space.memory[other] > room[q]:
                heads[other, space.limited[q]] = NOWHERE
        is_possible = False
        for l in range(heads.shape[1]):
            is_possible = is_possible or heads[other, l] < NOWHERE
        if not is_possible:
            return False
    return True


@inner
def end_of_job(space: SearchSpace, heads: NDArray[np.int32], task: int, gpu: int) -> int:
    """Return a bound on when the job of a task is complete if the task sits on a GPU."""
    return heads[task, gpu] + space.durations[task, gpu] + space.job_tail[task, gpu]


@inner
def weighted_completion(
    space: SearchSpace,
    completion: NDArray[np.int32],
    heads: NDArray[np.int32],
    waiting: NDArray[np.int64],
    num_waiting: int,
    except_for: int,
    least: NDArray[np.int64],
) -> int:
    """Return a lower bound on the weighted sum of completion times.

    Parameters
    ----------
    space
        The instance.
    completion
        Of the started tasks of every job with their tails, shape (jobs,).
    heads, waiting, num_waiting, except_for
        Heads of all tasks, and which have not started; only the first entries count, and not one of them.
    least
        Room, shape (jobs,).
    """
    least[:] = completion
    for position in range(num_waiting):
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


@njit(cache=True, nogil=True)
def expand(
    space: SearchSpace,
    labels: Labels,
    sequence: NDArray[np.int64],
    children: Labels,
    part: int,
    parts: int,
    halt: NDArray[np.bool_],
) -> None:
    """Start one more task after every label, in all ways, and keep those children whose down-set falls to one part.

    Parameters
    ----------
    space
        The instance.
    labels
        One part of a layer.
    sequence
        Places of the labels that go on, the best estimates first.
    children
        Filled; where its places are used up, children without one are counted as dropped.
    part, parts
        Number of the part, of so many, by the hash of the down-set: each can be filled by a thread of its own.
    halt
        Shape (1,); true ends it early.
    """
    n, m = space.durations.shape
    waiting, heads = np.empty(n, dtype=np.int64), np.empty((1, n, m), dtype=np.int32)
    is_waiting, is_free, is_due = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    earliest = np.empty(n, dtype=np.int32)
    is_used, digest = np.zeros(m, dtype=np.bool_), np.empty(DIGEST, dtype=np.int32)
    jobs, limited = len(space.weight), len(space.limited)
    bits, least = np.zeros(labels.started.shape[1], dtype=np.uint64), np.zeros(jobs, dtype=np.int64)
    completion, used = np.zeros((1, jobs), dtype=np.int32), np.zeros((1, limited), dtype=np.int64)
    room, child = np.zeros(limited, dtype=np.int64), heads[0]
    for place in sequence:
        if halt[0]:
            return
        before, started = labels.heads[place], labels.started[place]
        count = _look(space, before, started, waiting, is_waiting, is_free, earliest, is_used)
        for position in range(count):
            task = waiting[position]
            like = space.like_task[task]
            if not is_free[task] or (like >= 0 and not has_bit(started, like)):
                continue
            bits[:] = started
            bits[task // 64] |= np.uint64(1) << np.uint64(task % 64)
            hashed = hash_of(bits)
            if (hashed >> np.uint64(40)) % np.uint64(parts) != np.uint64(part):
                continue
            for gpu in range(m):
                if before[task, gpu] >= NOWHERE or (space.like_gpu[gpu] >= 0 and not is_used[space.like_gpu[gpu]]):
                    continue
                has_room = True
                for q in range(limited):
                    used[0, q] = labels.used[place, q]
                    if space.limited[q] == gpu:
                        used[0, q] += space.memory[task]
                    room[q] = space.capacity[q] - used[0, q]
                    has_room = has_room and room[q] >= 0
                if not has_room or not extend(
                    space, before, waiting, count, is_waiting, is_free, earliest, task, gpu, room, child, is_due
                ):
                    continue
                if jobs > 0:
                    completion[0] = labels.completion[place]
                    job = space.job_of_task[task]
                    completion[0, job] = max(completion[0, job], end_of_job(space, child, task, gpu))
                    if weighted_completion(space, completion[0], child, waiting, count, task, least) > space.most:
                        continue
                keep(children, bits, hashed, heads, completion, used, waiting, count, task, digest)


@inner
def _look(
    space: SearchSpace,
    heads: NDArray[np.int32],
    started: NDArray[np.uint64],
    waiting: NDArray[np.int64],
    is_waiting: NDArray[np.bool_],
    is_free: NDArray[np.bool_],
    earliest: NDArray[np.int32],
    is_used: NDArray[np.bool_],
) -> int:
    """Say which tasks of a label wait and how many, which are free, when they can start, and which GPUs are used."""
    n, m = heads.shape
    is_used[:] = False
    count = 0
    for position in range(n):
        task = space.order[position]
        earliest[task] = NOWHERE
        has_started = has_bit(started, task)
        for k in range(m):
            earliest[task] = min(earliest[task], heads[task, k])
            if has_started and heads[task, k] < NOWHERE:
                is_used[k] = True
        is_waiting[task] = not has_started
        if has_started:
            continue
        waiting[count] = task
        count += 1
        is_free[task] = True
        for entry in range(space.offsets[task], space.offsets[task + 1]):
            is_free[task] = is_free[task] and has_bit(started, space.predecessors[entry])
    return count
