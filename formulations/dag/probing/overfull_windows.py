"""Windows of time on one GPU that hold more work than fits, given fractions of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit(cache=True)
def least_work(head: int, latest: int, duration: int, opens: int, ends: int) -> int:
    """Return the least work of a task inside a window, wherever it starts: as early or as late as it can.

    Parameters
    ----------
    head, latest
        Earliest start and latest finish.
    duration
        At most latest - head.
    opens, ends
        The window.
    """
    early = min(head + duration, ends) - max(head, opens)
    late = min(latest, ends) - max(latest - duration, opens)
    return max(min(early, late), 0)


@njit(cache=True)
def tightest_window(
    size: int,
    head: NDArray[np.int64],
    latest: NDArray[np.int64],
    duration: NDArray[np.int64],
    amount: NDArray[np.float64],
) -> tuple[int, int, float]:
    """Return the window [a, e] with the most work of tasks that lie in it as a whole, beyond e - a.

    For every e the makespan of the tasks that must end by e, in order of their heads, is the largest a + work behind a
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


@njit(cache=True)
def crowded_window(
    size: int,
    head: NDArray[np.int64],
    latest: NDArray[np.int64],
    duration: NDArray[np.int64],
    amount: NDArray[np.float64],
) -> tuple[int, int, float]:
    """Return the window with the largest share of work that must be done in it, beyond all of it.

    For an opening a the least work of a task inside [a, e] is that of e - max(latest - duration, a), between 0 and
    head + duration - max(head, a): one ramp in e. Openings are heads and latest starts, ends are where a ramp ends.
    Parameters and results as of `tightest_window`.
    """
    opens, ends, most, share = 0, 1, 0.0, 0.0
    moment, slope = np.empty(2 * size, dtype=np.int64), np.empty(2 * size)
    for first in range(2 * size):
        item = first // 2
        a = head[item] if first % 2 == 0 else latest[item] - duration[item]
        count = 0
        for item in range(size):
            length = head[item] + duration[item] - max(head[item], a)
            if length > 0:
                moment[count] = max(latest[item] - duration[item], a)
                moment[count + 1] = moment[count] + length
                slope[count], slope[count + 1] = amount[item], -amount[item]
                count += 2
        work, rate, before = 0.0, 0.0, a
        for event in np.argsort(moment[:count]):
            work += rate * (moment[event] - before)
            before = moment[event]
            rate += slope[event]
            length = before - a
            if length > 0 and (work - length) / length > share:
                opens, ends, most, share = a, before, work - length, (work - length) / length
    return opens, ends, most
