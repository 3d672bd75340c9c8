"""One machine that is interrupted at will and always serves the released job of highest rank."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def served(
    release: Sequence[int], length: Sequence[int], key: Callable[[int, int], Any]
) -> Iterator[tuple[int, int, int]]:
    """Yield who is served when, in order of time: (job, from, until), idle times left out.

    Parameters
    ----------
    release
        Of each job.
    length
        Of each job, at least 1; same unit.
    key
        Of a job and what is left of it: the released job with the least key is served, ties by release, then number.
        The key of a job that waits must not change, and that of the served one must not rise.
    """
    arrivals = sorted(range(len(release)), key=lambda job: (release[job], job))
    waiting: list[tuple[Any, int, int, int]] = []  # key, release, job, what is left
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
