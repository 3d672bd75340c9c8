"""The earliest start behind a join of several predecessors, with and without contention of transfers (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from instances.kernels import inner_kernel, sort_by

if TYPE_CHECKING:
    from numpy.typing import NDArray


INFINITE = 2**60
"""Head and tail where a task cannot sit on a GPU; sums of a few stay within 64 bits."""


@inner_kernel
def earliest_start(
    size: int,
    remote: NDArray[np.int64],
    local: NDArray[np.int64],
    duration: NDArray[np.int64],
    memory: NDArray[np.int64],
    free_memory: int,
) -> int:
    """Return the least start over all splits into local and remote predecessors; `INFINITE` if none is possible.

    Local predecessors cannot overlap on the GPU; remote ones may sit anywhere else, even together. It suffices to try
    "local = all that would arrive after theta if they were remote" (docs/bounds.md, section 2.3).

    Parameters
    ----------
    size
        Number of predecessors; only the first `size` entries of the arrays count.
    remote
        Earliest arrival of each one's data from any other GPU; `INFINITE` where there is none.
    local, duration
        Head and duration of each one on this GPU; `INFINITE` where it cannot sit here.
    memory
        Memory of each one in bytes.
    free_memory
        Bytes that are left for predecessors on this GPU.
    """
    if size == 0:
        return 0
    if size == 1:
        here = local[0] + duration[0] if memory[0] <= free_memory else INFINITE
        return min(here, remote[0], INFINITE)
    by_head = np.empty(size, dtype=np.int64)
    # Insertion sort, fast for few predecessors and quick to compile: by_head[:new] is sorted by local head.
    for new in range(size):
        place = new
        while place > 0 and local[by_head[place - 1]] > local[new]:
            by_head[place] = by_head[place - 1]
            place -= 1
        by_head[place] = new
    best = INFINITE  # invariant: the least start over the thetas that were tried
    for split in range(-1, size):
        theta = -1 if split < 0 else remote[split]
        if theta >= best:
            continue  # the start is at least theta, an arrival that it waits for
        # Invariant: `end` is the exact makespan of the local predecessors so far on one GPU, because they are taken by
        # increasing head; `arrival` is the latest arrival of the remote ones so far.
        arrival, end, used, possible = 0, 0, 0, True
        for position in range(size):
            item = by_head[position]
            if remote[item] <= theta:
                arrival = max(arrival, remote[item])
                continue
            used += memory[item]
            if local[item] >= INFINITE or used > free_memory:
                possible = False
                break
            end = max(end, local[item]) + duration[item]
        if possible:
            best = min(best, max(arrival, end))
    return best


MOST_FOR_ALL_PAIRS = 32
"""Up to so many predecessors all pairs (a, b) are tried, beyond it only those of one predecessor: q^3 steps add up."""


class JoinItems(NamedTuple):
    """Predecessors of a task on GPU k of server u, by where they may sit; ticks, shape (q,), `INFINITE` for nowhere."""

    local_head: NDArray[np.int64]  # on k: head
    local_work: NDArray[np.int64]  # on k: duration
    beside: NDArray[np.int64]  # on another GPU of u: least arrival
    away_ready: NDArray[np.int64]  # on another server: least finish
    away_work: NDArray[np.int64]  # on another server: least transfer delay
    away: NDArray[np.int64]  # on another server: least arrival


@inner_kernel
def nic_join(items: JoinItems, at_least: int, infinite: int) -> int:
    """Return a lower bound on the start of a task whose transfers from other servers share one incoming side.

    Every predecessor sits on the task's own GPU k, on another GPU of its server u, or on another server. Those on k
    cannot overlap there. The transfers from other servers cannot overlap on the incoming side of u, and none starts
    before its predecessor's least finish away from u. So the task can start by t only if each predecessor can be given
    one of these places, arriving by t, such that for all ticks a and b

        sum of durations of those on k with head >= a              <= t - a,
        sum of delays of those away with least finish >= b         <= t - b.

    For each a and b of the predecessors: those that may sit on another GPU of u count for nothing, those with one place
    count in its sum, those with two only if both sums would count them. Allowing fractions of these makes the rest a
    fractional knapsack, solved by keeping the largest delay per duration on k; if even that fails, no schedule exists.
    What is possible by t is possible by t + 1, so bisection finds the least t that is not refuted. Tails are the mirror
    image on the outgoing side (docs/bounds.md, section 2.4; ours).

    Parameters
    ----------
    at_least
        A lower bound from elsewhere, the least value returned.
    infinite
        Value that stands for nowhere and for never.
    """
    if len(items.away) < 2 or at_least >= infinite:
        return at_least
    count = len(items.away)
    rate, order, scratch = np.empty(count), np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    for item in range(count):
        rate[item] = -items.away_work[item] / max(float(items.local_work[item]), 1e-9)
    sort_by(rate, count, order, scratch)
    if _may_start_by(items, order, at_least):
        return at_least
    refuted, step = at_least, 1  # invariant: a start by `refuted` is impossible
    while refuted + step < infinite and not _may_start_by(items, order, refuted + step):
        refuted += step
        step *= 2
    possible = min(refuted + step, infinite)
    while possible - refuted > 1:
        middle = (refuted + possible) // 2
        if _may_start_by(items, order, middle):
            possible = middle
        else:
            refuted = middle
    return possible


@inner_kernel
def _may_start_by(items: JoinItems, order: NDArray[np.int64], t: int) -> bool:
    """Say whether no pair of ticks refutes that all predecessors are done and their data is there by t."""
    for item in order:
        here = items.local_head[item] + items.local_work[item] <= t
        if not here and items.beside[item] > t and items.away[item] > t:
            return False
    for first in order:
        for second in order:
            if len(order) > MOST_FOR_ALL_PAIRS and first != second:
                continue
            if not _fits_from(items, order, t, min(items.local_head[first], t), min(items.away_ready[second], t)):
                return False
    return True


@inner_kernel
def _fits_from(items: JoinItems, order: NDArray[np.int64], t: int, a: int, b: int) -> bool:
    """Say whether the GPU from a and the incoming side from b can take, by t, what must be there, in fractions."""
    gpu, nic = t - a, t - b
    for item in order:  # predecessors with one place; gpu and nic are the ticks that are left
        here = items.local_head[item] + items.local_work[item] <= t
        away = items.away[item] <= t
        if items.beside[item] <= t or (away and items.away_work[item] == 0) or here == away:
            continue
        if here and items.local_head[item] >= a:
            gpu -= items.local_work[item]
        elif away and items.away_ready[item] >= b:
            nic -= items.away_work[item]
    if gpu < 0 or nic < 0:
        return False
    needed = 0.0
    for item in order:  # predecessors with two places: those of most delay per duration take the GPU first
        here = items.local_head[item] + items.local_work[item] <= t
        away = items.away[item] <= t
        if items.beside[item] <= t or items.away_work[item] == 0 or not (here and away):
            continue
        if items.local_head[item] < a or items.away_ready[item] < b:
            continue
        work = items.local_work[item]
        if work <= gpu:
            gpu -= work
        else:
            needed += items.away_work[item] * (1.0 - gpu / work)
            gpu = 0
    return needed <= nic + 1e-6 + 1e-9 * needed  # refuted only beyond possible rounding errors
