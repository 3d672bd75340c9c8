"""Jobs on one machine that serves the most urgent one and may interrupt it at any time; in integers."""

from __future__ import annotations

import heapq
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def served(
    release: Sequence[int], length: Sequence[int], key: Callable[[int, int], Any]
) -> Iterator[tuple[int, int, int]]:
    """Yield which job is served when, in order of time: (job, from, until), without idle times.

    Parameters
    ----------
    release, length
        Release and length of each job in one unit; a job of length 0 is never served.
    key
        Function of a job and its remaining length: the released job with the least key is served, ties by release, then
        number. The key of a waiting job must not change, and that of the served job must not rise.
    """
    arrivals = sorted(range(len(release)), key=lambda job: (release[job], job))
    waiting: list[tuple[Any, int, int, int]] = []  # key, release, job, remaining length
    time, position = 0, 0
    while position < len(arrivals) or waiting:
        if not waiting:
            time = max(time, release[arrivals[position]])
        while position < len(arrivals) and release[arrivals[position]] <= time:
            job = arrivals[position]
            heapq.heappush(waiting, (key(job, length[job]), release[job], job, length[job]))
            position += 1
        _, _, job, left = heapq.heappop(waiting)
        until = time + left
        if position < len(arrivals):
            until = min(until, release[arrivals[position]])
        if until > time:
            yield job, time, until
        left -= until - time
        time = until
        if left:
            heapq.heappush(waiting, (key(job, left), release[job], job, left))


def srpt_times(release: Sequence[int], length: Sequence[int]) -> list[int]:
    """Return the completion time of each job under shortest remaining processing time first."""
    times = list(release)
    for job, _, until in served(release, length, lambda _, left: left):
        times[job] = until
    return times


def busy_areas(release: Sequence[int], length: Sequence[int], weight: Sequence[int]) -> list[int]:
    """Return for each job the sum of until^2 - from^2 over the stretches in which it is served, by weight over length.

    That is twice the integral of the time over its service, so its mean busy time is this over twice its length.
    """
    ratios = [Fraction(-w, p) if p else Fraction(0) for w, p in zip(weight, length, strict=True)]
    place_of = {ratio: place for place, ratio in enumerate(sorted(set(ratios)))}
    rank = [place_of[ratio] for ratio in ratios]  # numbers are compared much faster than fractions
    areas = [0] * len(length)
    for job, begin, until in served(release, length, lambda job, _: rank[job]):
        areas[job] += until * until - begin * begin
    return areas
