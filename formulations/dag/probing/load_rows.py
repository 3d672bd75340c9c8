"""Rows of work in windows of time, and of memory, on every GPU, and the windows that are worth a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from formulations.dag.probing.assignment_simplex import Tableau, new_tableau
from formulations.dag.probing.network import MEMORY_UNIT
from instances.kernels import inner_kernel, sort_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formulations.dag.probing.network import Network
    from formulations.dag.probing.tighten import State


@inner_kernel
def least_work(head: int, latest: int, duration: int, opens: int, ends: int) -> int:
    """Return the least work of a task inside a window, wherever it starts: as early or as late as possible.

    The task starts at `head` or later and finishes by `latest`; `duration` is at most latest - head.
    """
    early = min(head + duration, ends) - max(head, opens)
    late = min(latest, ends) - max(latest - duration, opens)
    return max(min(early, late), 0)


@inner_kernel
def tightest_window(
    size: int,
    head: NDArray[np.int64],
    latest: NDArray[np.int64],
    duration: NDArray[np.int64],
    amount: NDArray[np.float64],
) -> tuple[int, int, float]:
    """Return the window [a, e] with the most work of tasks that must lie in it as a whole, beyond e - a.

    For every e the makespan of the tasks that must end by e, in order of their heads, is the largest a + work after a
    (Jackson); so no pair (a, e) is missed.

    Parameters
    ----------
    size
        Number of tasks; only the first `size` entries of the arrays count.
    head, latest, duration
        Earliest start, latest finish and duration of each, by increasing head.
    amount
        Fraction of each task that sits on the GPU.

    Returns
    -------
    tuple[int, int, float]
        Opening and end of the window, and the excess, which may be negative.
    """
    opens, ends, most = 0, 0, -np.inf
    for last in range(size):
        end = latest[last]
        # Invariant: `time` is the makespan of the items so far that must end by `end`; they run without pause from
        # `begin` on.
        time, begin = -1.0, 0
        for item in range(size):
            if latest[item] > end:
                continue
            if head[item] >= time:
                begin, time = head[item], float(head[item])
            time += duration[item] * amount[item]
        if time - end > most:
            opens, ends, most = begin, end, time - end
    return opens, ends, most


_FAR = 2**62
"""After all moments."""

_BEGINS, _ENDS_LATE, _ENDS_EARLY, _NEVER = 0, 1, 2, 3
"""Where the ramp of a task's work bends: at its latest start, latest finish or earliest finish; the end of a list."""


@inner_kernel
def _does_bend(kind: int, opening: int, head: int, start: int, finish: int) -> bool:
    """Say whether the ramp of a task with this head, latest start and earliest finish bends there."""
    if kind == _BEGINS:
        return start > opening and finish > opening
    if kind == _ENDS_LATE:
        return head >= opening
    return kind == _NEVER or (head < opening and start <= opening < finish)


@inner_kernel
def crowded_window(
    size: int,
    head: NDArray[np.int64],
    latest: NDArray[np.int64],
    duration: NDArray[np.int64],
    amount: NDArray[np.float64],
) -> tuple[int, int, float]:
    """Return the window that is overfilled most, relative to its length, by work that must be done in it.

    The least work of a task inside [a, e] falls from where a passes its head if its latest finish is in the window, and
    its latest start if its earliest finish is not. For a given end some opening from which the work of a task falls is
    the best one. So openings are heads, of windows in which their task ends in any case, and latest starts, of those
    that end with the earliest finish of their task or before. (Baptiste, Le Pape and Nuijten 1999 have a third kind,
    which depends on the end and is left out.)

    For an opening a the least work of a task inside [a, e] is that of e - max(latest - duration, a), between 0 and head
    + duration - max(head, a): one ramp in e. Ends are where a ramp ends. Parameters and results are those of
    `tightest_window`.

    Only the ramp of a task with head < a < latest - duration ends where it depends on a, at head + latest - a. So these
    ends are sorted once, and all other bends too, and each opening merges the two lists.
    """
    opens, ends, most, share = 0, 1, 0.0, 0.0
    start, finish = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    moment, both = np.empty(3 * size, dtype=np.int64), np.empty(size, dtype=np.int64)
    for item in range(size):
        start[item], finish[item] = latest[item] - duration[item], head[item] + duration[item]
        moment[3 * item + _BEGINS] = start[item]
        moment[3 * item + _ENDS_LATE] = latest[item]
        moment[3 * item + _ENDS_EARLY] = finish[item]
        both[item] = head[item] + latest[item]
    order, scratch = np.empty(3 * size, dtype=np.int64), np.empty(3 * size, dtype=np.int64)
    by_both = np.empty(size, dtype=np.int64)
    sort_by(moment, 3 * size, order, scratch)
    sort_by(both, size, by_both, scratch)
    bend, kind = np.empty(3 * size + 1, dtype=np.int64), np.empty(3 * size + 1, dtype=np.int64)
    owner = np.empty(3 * size + 1, dtype=np.int64)
    for place in range(3 * size):
        bend[place], owner[place], kind[place] = moment[order[place]], order[place] // 3, order[place] % 3
    bend[3 * size], owner[3 * size], kind[3 * size] = _FAR, 0, _NEVER
    moving, mover = np.empty(size + 1, dtype=np.int64), np.empty(size + 1, dtype=np.int64)
    for number in range(2 * size):
        one = number // 2
        a, first, last = head[one], latest[one], _FAR  # the opening, and from where to where windows may end
        if number % 2 == 1:
            a, first, last = start[one], start[one], finish[one]
            if a >= last:
                continue
        elif one > 0 and a == head[one - 1]:
            continue  # the same opening again
        else:
            place = one + 1
            while place < size and head[place] == a:
                first = min(first, latest[place])
                place += 1
        work, rate, before, total, count = 0.0, 0.0, first, 0.0, 0
        for place in range(size):
            item = by_both[place]
            if finish[item] <= a:
                continue
            total += amount[item] * (finish[item] - max(head[item], a))
            until = latest[item]
            if head[item] < a:
                until = finish[item] if start[item] <= a else both[item] - a
            since = max(start[item], a)
            if since < first:
                work += amount[item] * (min(until, first) - since)
            if since <= first < until:
                rate += amount[item]
            if head[item] < a < start[item] and until > first:
                moving[count], mover[count] = until, item
                count += 1
        moving[count], mover[count] = _FAR, size
        place, other, beyond = 0, 0, 3 * size
        while place < beyond:  # invariant: bends before `place` are at most `first`, those from `beyond` on exceed it
            middle = (place + beyond) // 2
            if bend[middle] <= first:
                place = middle + 1
            else:
                beyond = middle
        # Invariant: up to `before`, tasks must do `work` inside [a, before], which grows by `rate` per tick from there.
        # A longer window than in the condition is not overfilled as much by all there is.
        while before <= last and (before - a) * (1.0 + share) <= total * (1.0 + 1e-9):
            length = before - a
            if work > length and (work - length) / length > share:
                opens, ends, most, share = a, before, work - length, (work - length) / length
            item = owner[place]
            while not _does_bend(kind[place], a, head[item], start[item], finish[item]):
                place += 1
                item = owner[place]
            now, change = bend[place], amount[item] if kind[place] == _BEGINS else -amount[item]
            if moving[other] < now or (moving[other] == now and mover[other] < item):
                now, change = moving[other], -amount[mover[other]]
                other += 1
            else:
                place += 1
            if now == _FAR:
                break
            work += rate * (now - before)
            before = now
            rate += change
    return opens, ends, most


MAX_ROWS = 16
"""Rows per GPU; a new row replaces the one of the lowest price."""

_MEMORY = -1
"""In place of a window's opening: the row is the GPU's memory."""


class Loads(NamedTuple):
    """Rows sum_i ticks[k,i,r] x[i,k] <= limit[k,r] of every GPU k, and the results of the last linear program."""

    since: NDArray[np.int64]  # (m,), ticks; windows that open before are not looked for, because all is settled there
    num_rows: NDArray[np.int64]  # (m,)
    opens: NDArray[np.int64]  # (m, rows), ticks after 0
    closes: NDArray[np.int64]  # (m, rows), ticks before the deadline
    ticks: NDArray[np.int64]  # (m, n, rows)
    limit: NDArray[np.int64]  # (m, rows)
    share: NDArray[np.float64]  # (m, n, rows), ticks / limit
    is_stale: NDArray[np.bool_]  # (m, rows), whether a row is to be computed
    price: NDArray[np.float64]  # (m, rows)
    placement: NDArray[np.float64]  # (n, m), fractional
    key: NDArray[np.int64]  # (n,)
    tableau: Tableau


def new_loads(net: Network) -> Loads:
    """Return one row per GPU for all of its time, and one for its memory if that may matter."""
    n, m = net.durations.shape
    loads = Loads(
        since=np.zeros(m, dtype=np.int64),
        num_rows=np.ones(m, dtype=np.int64),
        opens=np.zeros((m, MAX_ROWS), dtype=np.int64),
        closes=np.zeros((m, MAX_ROWS), dtype=np.int64),
        ticks=np.zeros((m, n, MAX_ROWS), dtype=np.int64),
        limit=np.zeros((m, MAX_ROWS), dtype=np.int64),
        share=np.zeros((m, n, MAX_ROWS)),
        is_stale=np.ones((m, MAX_ROWS), dtype=np.bool_),
        price=np.zeros((m, MAX_ROWS)),
        placement=np.zeros((n, m)),
        key=np.zeros(n, dtype=np.int64),
        tableau=new_tableau(m * MAX_ROWS),
    )
    for k in np.flatnonzero(net.memory_share.sum(axis=0) > MEMORY_UNIT):
        loads.opens[k, 1], loads.num_rows[k] = _MEMORY, 2
    return loads


@inner_kernel
def copy_rows(target: Loads, source: Loads) -> None:
    """Copy the windows, the prices and the placement of other loads."""
    n, m = source.placement.shape
    for k in range(m):
        target.num_rows[k] = source.num_rows[k]
        for r in range(source.num_rows[k]):
            target.opens[k, r] = source.opens[k, r]
            target.closes[k, r] = source.closes[k, r]
            target.price[k, r] = source.price[k, r]
        for task in range(n):
            target.placement[task, k] = source.placement[task, k]


def rows_of(loads: Loads) -> tuple[NDArray[Any], ...]:
    """Return the arrays that `copy_rows` copies, so that they can be kept without all else."""
    return loads.num_rows, loads.opens, loads.closes, loads.price, loads.placement


@inner_kernel
def drop_idle_rows(loads: Loads) -> None:
    """Remove windows that have no price, except the first of every GPU."""
    for k in range(len(loads.num_rows)):
        kept = 0  # invariant: rows 0 .. kept - 1 are those that stay, among the rows so far
        for r in range(loads.num_rows[k]):
            if r == 0 or loads.opens[k, r] == _MEMORY or loads.price[k, r] > 0.0:
                loads.opens[k, kept], loads.closes[k, kept] = loads.opens[k, r], loads.closes[k, r]
                loads.price[k, kept] = loads.price[k, r]
                kept += 1
        loads.num_rows[k] = kept


@inner_kernel
def fill_row(net: Network, state: State, deadline: int, loads: Loads, k: int, r: int) -> None:
    """Compute the coefficients of a row."""
    n = len(net.memory)
    loads.is_stale[k, r] = False
    if loads.opens[k, r] == _MEMORY:
        loads.limit[k, r] = MEMORY_UNIT
        for task in range(n):
            loads.ticks[k, task, r] = net.memory_share[task, k] if state.allowed[task, k] else 0
            loads.share[k, task, r] = loads.ticks[k, task, r] / MEMORY_UNIT
        return
    opens, ends = loads.opens[k, r], deadline - loads.closes[k, r]
    limit = max(ends - opens, 0)
    loads.limit[k, r] = limit
    for task in range(n):
        ticks = 0
        if limit > 0 and state.allowed[task, k]:
            latest = deadline - state.tails[task, k]
            ticks = least_work(state.heads[task, k], latest, net.durations[task, k], opens, ends)
        loads.ticks[k, task, r] = ticks
        loads.share[k, task, r] = ticks / limit if limit > 0 else 0.0


@inner_kernel
def place_for(loads: Loads, k: int, opens: int, closes: int) -> int:
    """Return a row for a window: a new one, or the one of the lowest price; -1 if the window has a row."""
    cheapest = -1
    for r in range(loads.num_rows[k]):
        if loads.opens[k, r] == opens and loads.closes[k, r] == closes:
            return -1
        if loads.opens[k, r] != _MEMORY and (cheapest < 0 or loads.price[k, r] < loads.price[k, cheapest]):
            cheapest = r
    if loads.num_rows[k] == MAX_ROWS:
        return cheapest
    loads.num_rows[k] += 1
    return loads.num_rows[k] - 1
