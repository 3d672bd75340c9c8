"""Heads and tails from all ancestors and descendants of a task, not only from its neighbours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from formulations.dag.heads_and_tails import (
    HeadsAndTails,
    PathSide,
    heads_and_tails,
    path_sides,
    room_for_neighbours,
    start_behind,
)
from formulations.dag.incomparable_pairs import reachable
from formulations.dag.interchangeable import gpu_classes
from formulations.dag.join import INFINITE
from formulations.time_left import without_limit
from instances.dag.contention import Contention
from instances.dag.graph import within_jobs
from instances.kernels import brief_kernel, inner_kernel, sort_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance

MOST_DISTANCES = 16_000_000
"""Above this many pairs of tasks times pairs of GPUs nothing is raised: a distance takes 8 bytes for each."""

STEPS_PER_SECOND, THOROUGH_STEPS_PER_SECOND = 10_000_000, 50_000_000
"""Entries of the table times edges per task, and those of its thorough form times tasks and GPUs between; measured."""

MOST_SECONDS, SHARE_OF_TIME = 3.0, 0.1
"""Longest estimated time, in seconds and as a share of what is left."""


def far_heads_and_tails(
    instance: DagInstance,
    *,
    makespan_at_most: int | None = None,
    contention: Contention = Contention.NONE,
    among: NDArray[np.bool_] | None = None,
    share: float = SHARE_OF_TIME,
    seconds_left: Callable[[], float] = without_limit,
) -> HeadsAndTails:
    """Compute heads and tails from all ancestors and descendants; never below those of `heads_and_tails`.

    Let d[h,l,i,k] be a lower bound on the time between the starts of h on GPU l and of its descendant i on k. Then r[h]
    = min over l other than k of (H[h,l] + d[h,l,i,k]) is when i on k can start at the earliest if its ancestor h is
    anywhere else. For a theta, all ancestors with r[h] > theta are on k, or i starts after theta. Those on k run one at
    a time, each behind its head and d[h,k,i,k] before the start of i, and they must fit into the memory of k together
    with i. So the head is at least the least over theta of the larger of theta and of the makespan of one machine with
    heads, tails and interruptions. The distances d are heads in the graph of the descendants of h, where h starts at 0:
    join-aware ones, or, where the time allows it, made in this way too; and never below the time that all GPUs take for
    the work between h and i. Tails are the mirror image (docs/bounds.md, section 2.6). All of it holds under contention
    too.

    Parameters
    ----------
    makespan_at_most, contention, among
        As in `heads_and_tails`.
    share, seconds_left
        What is estimated to take more than this share of these seconds is left out.

    References
    ----------
    Jung, Kirousis and Spirakis (1989), and Papadimitriou and Yannakakis (1990): ancestors whose data cannot arrive in
    time must be on the same processor. Jackson (1955): one machine. Unrelated GPUs, memory and the distances are ours.
    """
    around = heads_and_tails(instance, makespan_at_most=makespan_at_most, contention=contention, among=among)
    kept, like = _kept_gpus(instance, around.allowed)
    seconds = min(MOST_SECONDS, share * seconds_left())
    entries = _entries(instance, kept, like, seconds)
    if entries is None:
        return around
    is_thorough = entries * instance.num_tasks * len(kept) / 6 <= THOROUGH_STEPS_PER_SECOND * seconds
    has_own_edges = bool(within_jobs(instance).all())
    forward, backward = _sides(instance, kept)
    place_of_gpu, first_of_kept = np.searchsorted(kept, like), np.searchsorted(kept, like[kept])
    while around.allowed.any(axis=1).all():
        raised = _far_heads_and_tails(
            forward,
            backward,
            instance.durations[:, kept],
            instance.task_memory,
            instance.gpu_memory[kept],
            first_of_kept,
            around.allowed[:, kept],
            around.heads[:, kept],
            around.tails[:, kept],
            _work_between(instance, around.allowed),
            is_thorough,
            (True, True),
        )[:2]
        heads, tails = (values[:, place_of_gpu] for values in raised)
        allowed = around.allowed & (heads < INFINITE) & (tails < INFINITE)
        if makespan_at_most is not None:
            allowed &= heads + np.maximum(instance.durations, 0) + tails <= makespan_at_most
        is_settled = bool((allowed == around.allowed).all())
        job_tails = np.maximum(around.job_tails, tails) if has_own_edges else around.job_tails
        around = replace(around, heads=heads, tails=tails, job_tails=job_tails, allowed=allowed)
        if is_settled or seconds_left() <= 0:
            break
    return around


class Distances(NamedTuple):
    """Least ticks between the starts of a task on GPU k and of an ancestor or descendant on l; -1 without a path."""

    ticks: NDArray[np.int64]  # (n, n, places, places): task, other task, places of k and l
    task_place: NDArray[np.int64]  # (m, m), of k by k and l
    other_place: NDArray[np.int64]  # (m, m), of l by k and l


def join_aware_distances(
    instance: DagInstance, allowed: NDArray[np.bool_], *, seconds_left: Callable[[], float] = without_limit
) -> tuple[Distances, Distances] | None:
    """Return distances on GPUs that are allowed, to ancestors and to descendants, by join-aware rules alone.

    Those to the ancestors h of a task i are the tails of h in the graph of the ancestors of i, those to its descendants
    their heads in the graph of the descendants of i. `far_heads_and_tails` has larger ones. None where they take too
    much time or memory.
    """
    kept, like = _kept_gpus(instance, allowed)
    if _entries(instance, kept, like, min(MOST_SECONDS, SHARE_OF_TIME * seconds_left())) is None:
        return None
    n, places = instance.num_tasks, len(kept)
    first = np.searchsorted(kept, like)
    second = np.array([np.flatnonzero(like[kept] == k)[:2].max() for k in like])
    is_beside = (like[:, None] == like) & ~np.eye(len(like), dtype=np.bool_)
    places_of = np.broadcast_to(first[:, None], is_beside.shape), np.where(is_beside, second, first)
    tables = [
        _far_heads_and_tails(
            *_sides(instance, kept),
            instance.durations[:, kept],
            instance.task_memory,
            instance.gpu_memory[kept],
            np.searchsorted(kept, like[kept]),
            allowed[:, kept],
            np.zeros((n, places), dtype=np.int64),
            np.zeros((n, places), dtype=np.int64),
            np.zeros((n, n), dtype=np.int64),
            False,
            (is_tail, not is_tail),
        )[3 if is_tail else 2]
        for is_tail in (False, True)
    ]
    before, behind = (Distances(table, *places_of) for table in tables)
    return before, behind


def _entries(instance: DagInstance, kept: NDArray[np.int64], like: NDArray[np.int64], seconds: float) -> int | None:
    """Return how many distances are computed; None where they take too much memory, or more than some seconds."""
    pairs, places = instance.num_tasks**2, len(kept)
    entries = pairs * places * len(np.unique(like))
    steps = entries * (instance.num_edges / max(instance.num_tasks, 1) + 1)
    return None if pairs * places**2 > MOST_DISTANCES or steps > STEPS_PER_SECOND * seconds else entries


def _sides(instance: DagInstance, kept: NDArray[np.int64]) -> tuple[PathSide, PathSide]:
    """Return both directions of the edges with the links of some GPUs only."""
    forward, backward = (
        side._replace(latency=side.latency[np.ix_(kept, kept)], bytes_per_tick=side.bytes_per_tick[np.ix_(kept, kept)])
        for side in path_sides(instance)
    )
    return forward, backward


def _work_between(instance: DagInstance, allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the least time between the finish of a task and the start of a descendant for all work between, (n, n).

    For any u >= 0, a time T in which the GPUs do some tasks has T sum of u >= sum over these of min over k of u[k]
    p[i,k]. Two u are tried: equal ones, and the speeds of the GPUs. Sums of integers below 2**52 are exact as floats.
    """
    reaches = reachable(instance).astype(np.float64)
    durations = np.where(allowed, instance.durations, np.iinfo(np.int64).max)
    shortest = durations.min(axis=1)
    speeds = shortest.sum() / np.where(allowed, instance.durations, shortest[:, None]).sum(axis=0).clip(1)
    largest = float(np.where(allowed, instance.durations, 0).max(axis=1).sum()) + 1.0
    most = np.zeros_like(reaches)
    for shares in (np.ones(instance.num_gpus), speeds / max(speeds.max(), 1e-300)):
        weights = np.floor(shares * 2.0 ** np.floor(np.log2(2.0**51 / largest))).clip(1)
        work = np.where(allowed, instance.durations * weights, np.inf).min(axis=1)
        most = np.maximum(most, np.ceil((reaches * work) @ reaches / weights.sum() * (1.0 - 1e-12)))
    return most.astype(np.int64)


def _kept_gpus(instance: DagInstance, allowed: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return three GPUs of each class of equal ones and all others, and for every GPU the first of its class.

    Three stand for a class: between tasks on two GPUs of it, another one may be on a third.
    """
    like = np.arange(instance.num_gpus)
    for members in gpu_classes(instance, allowed):
        like[members] = members.min()
    kept = [k for k in range(len(like)) if np.count_nonzero(like[:k] == like[k]) < 3]
    return np.array(kept, dtype=np.int64), like


@brief_kernel(entries=400)
def _far_heads_and_tails(
    forward: PathSide,
    backward: PathSide,
    durations: NDArray[np.int64],
    task_memory: NDArray[np.int64],
    gpu_memory: NDArray[np.int64],
    like: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    heads: NDArray[np.int64],
    tails: NDArray[np.int64],
    work_between: NDArray[np.int64],
    is_thorough: bool,
    has: tuple[bool, bool],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return raised heads and tails, shapes (n, m), and distances between starts, to tasks before and behind each task.

    `like[k]` is the first GPU that can be swapped with k; `has` says whether distances are heads, and whether tails.
    """
    n, m = durations.shape
    sizes = (durations, task_memory, gpu_memory, like)
    # Distances between starts, -1 for no path, twice, so that the other tasks of a task lie side by side in memory.
    before = np.full((n, n, m, m), -1, dtype=np.int64)  # task, ancestor, their GPUs
    behind = before.copy()  # task, descendant, their GPUs
    if has[0]:
        _raise_distances(forward, sizes, allowed, work_between, False, is_thorough, before, behind)
    if has[1]:
        _raise_distances(backward, sizes, allowed, work_between, True, is_thorough, behind, before)
    raised_heads = _raised(forward, sizes, allowed, before, False, heads)
    return raised_heads, _raised(backward, sizes, allowed, behind, True, tails), before, behind


@inner_kernel
def _raise_distances(
    side: PathSide,
    sizes: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    allowed: NDArray[np.bool_],
    work_between: NDArray[np.int64],
    is_reversed: bool,
    is_thorough: bool,
    apart: NDArray[np.int64],
    mirrored: NDArray[np.int64],
) -> None:
    """Raise the distances by the heads behind each task alone; reversed in time, by the tails before each task alone.

    `apart` has a task and one before it, `mirrored` the same the other way round; reversed in time, one behind it.

    Thorough: not only neighbours make up these heads, but all tasks between, as in `_raised`.
    """
    durations, like = sizes[0], sizes[3]
    n, m = durations.shape
    scratch, room = room_for_neighbours(side), np.empty((11, n), dtype=np.int64)
    inside, behind = np.empty(n, dtype=np.bool_), np.empty(n, dtype=np.int64)
    since = np.full((n, m), INFINITE, dtype=np.int64)  # of tasks inside, from the start of the first one
    for place in range(n - 1, -1, -1):  # invariant: distances from all tasks behind the place are final
        first = side.order[place]
        inside[:] = False
        inside[first] = True
        behind[0], count = first, 1
        for task in side.order[place + 1 :]:
            for entry in range(side.offsets[task], side.offsets[task + 1]):
                if inside[side.neighbours[entry]]:
                    inside[task] = True
                    behind[count] = task
                    count += 1
                    break
        for l in range(m):
            if not allowed[first, l] or like[l] != l:
                continue
            since[first, :] = INFINITE
            since[first, l] = 0
            for position in range(1, count):  # invariant: `since` is final for all neighbours inside
                task = behind[position]
                for k in range(m):
                    since[task, k] = INFINITE
                    if not allowed[task, k]:
                        continue
                    start = start_behind(side, sizes[:3], since, inside, task, k, True, None, scratch)
                    least = work_between[task, first] if is_reversed else work_between[first, task]
                    start = max(start, durations[first, l] + least)
                    if is_thorough and start < INFINITE:
                        others = behind[1:position]
                        start = _start_behind_all(
                            others, sizes, since, allowed, apart, is_reversed, task, k, start, room
                        )
                    since[task, k] = start = min(start, INFINITE)
                    if is_reversed and start < INFINITE:  # between finishes, not starts
                        start += durations[task, k] - durations[first, l]
                    _keep_distance(apart, mirrored, like, first, task, l, k, start)


@inner_kernel
def _keep_distance(
    apart: NDArray[np.int64],
    mirrored: NDArray[np.int64],
    like: NDArray[np.int64],
    first: int,
    task: int,
    l: int,
    k: int,
    ticks: int,
) -> None:
    """Raise the distance of two tasks on two GPUs, and on all pairs of GPUs that can be swapped with these."""
    m = len(like)
    for other_l in range(m):
        if like[other_l] != like[l]:
            continue
        for other_k in range(m):
            if like[other_k] != like[k] or (other_l == other_k) != (l == k):
                continue
            raised = max(apart[task, first, other_k, other_l], ticks)
            apart[task, first, other_k, other_l] = mirrored[first, task, other_l, other_k] = raised


@inner_kernel
def _raised(
    side: PathSide,
    sizes: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    allowed: NDArray[np.bool_],
    apart: NDArray[np.int64],
    is_reversed: bool,
    known: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the heads that all tasks before a task give it; reversed in time, the tails."""
    n, m = known.shape
    like = sizes[3]
    heads, room = known.copy(), np.empty((11, n), dtype=np.int64)
    for place in range(n):  # invariant: the heads of all tasks before the place are final
        task = side.order[place]
        for k in range(m):
            if allowed[task, k] and like[k] == k:
                known_start, others = heads[task, k], side.order[:place]
                start = _start_behind_all(others, sizes, heads, allowed, apart, is_reversed, task, k, known_start, room)
                heads[task, k] = min(start, INFINITE)
        for k in range(m):
            heads[task, k] = heads[task, like[k]]
    return heads


@inner_kernel
def _start_behind_all(
    others: NDArray[np.int64],
    sizes: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    heads: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    apart: NDArray[np.int64],
    is_reversed: bool,
    task: int,
    k: int,
    at_least: int,
    room: NDArray[np.int64],
) -> Any:
    """Return the least start of a task on a GPU behind those of other tasks from which a path leads to it.

    It is `at_least` or later; who arrives by then from elsewhere does not matter.
    """
    durations, task_memory, gpu_memory, _ = sizes
    before, elsewhere, order, scratch = room[0], room[1], room[2], room[3]
    jobs = room[4:7]
    count = 0
    for other in others:
        arrival, has_path = INFINITE, False
        for l in range(durations.shape[1]):
            if not allowed[other, l] or heads[other, l] >= INFINITE:
                continue
            between = _between(apart, durations, other, l, task, k, is_reversed)
            has_path = has_path or between >= 0
            if l != k and between >= 0:
                arrival = min(arrival, heads[other, l] + between)
                if arrival <= at_least:
                    break
        if has_path and arrival > at_least:
            before[count] = other
            elsewhere[count] = -arrival
            count += 1
    if count == 0:
        return at_least
    sort_by(elsewhere, count, order, scratch)
    free = INFINITE if gpu_memory[k] < 0 else gpu_memory[k] - task_memory[task]
    most = 0  # so many of those that arrive latest from elsewhere can be on k together
    for place in range(count):
        other = before[order[place]]
        between = _between(apart, durations, other, k, task, k, is_reversed)
        free -= task_memory[other]
        if free < 0 or not allowed[other, k] or heads[other, k] >= INFINITE or between >= INFINITE:
            break
        jobs[0, place], jobs[1, place] = heads[other, k], durations[other, k]
        jobs[2, place] = between - durations[other, k]
        most = place + 1
    # One machine takes longer with more tasks, and theta falls. Invariant: the least of the larger of both is `best` or
    # at a number of tasks from `low` to `most`.
    best: Any = INFINITE
    low = 0
    while low <= most:
        here = (low + most) // 2
        theta = -elsewhere[order[here]] if here < count else np.int64(at_least)
        end = _one_machine(jobs, here, room[7:11])
        best = min(best, max(theta, end))
        if end >= theta:
            most = here - 1
        else:
            low = here + 1
    return best


@inner_kernel
def _between(
    apart: NDArray[np.int64],
    durations: NDArray[np.int64],
    other: int,
    l: int,
    task: int,
    k: int,
    is_reversed: bool,
) -> Any:
    """Return the distance from another task's start to that of a task; reversed, between finishes; -1 for no path."""
    between = apart[task, other, k, l]
    if not is_reversed or between < 0 or between >= INFINITE:
        return between
    return between + durations[other, l] - durations[task, k]


@inner_kernel
def _one_machine(jobs: NDArray[np.int64], count: int, room: NDArray[np.int64]) -> Any:
    """Return the least makespan, with interruptions, of the first jobs on one machine: heads, durations, tails.

    Of the jobs that can run, the one of largest tail does (Jackson 1955). `room` is scratch, four rows.
    """
    by_head, heap, left = room[0], room[1], room[2]
    heads, tails = jobs[0], jobs[2]
    sort_by(heads, count, by_head, room[3])
    size, taken, tick, end = 0, 0, np.int64(0), np.int64(0)
    while taken < count or size > 0:  # invariant: the heap holds the jobs that have come and are not done
        if size == 0:
            tick = max(tick, heads[by_head[taken]])
        while taken < count and heads[by_head[taken]] <= tick:
            job = by_head[taken]
            taken += 1
            left[job] = jobs[1, job]
            place = size
            size += 1
            while place > 0 and tails[heap[(place - 1) // 2]] < tails[job]:
                heap[place] = heap[(place - 1) // 2]
                place = (place - 1) // 2
            heap[place] = job
        job = heap[0]
        if taken < count and heads[by_head[taken]] < tick + left[job]:
            left[job] -= heads[by_head[taken]] - tick
            tick = heads[by_head[taken]]
            continue
        tick += left[job]
        end = max(end, tick + tails[job])
        size -= 1
        last, place = heap[size], 0
        while 2 * place + 1 < size:
            child = 2 * place + 1
            if child + 1 < size and tails[heap[child + 1]] > tails[heap[child]]:
                child += 1
            if tails[heap[child]] <= tails[last]:
                break
            heap[place] = heap[child]
            place = child
        heap[place] = last
    return end
