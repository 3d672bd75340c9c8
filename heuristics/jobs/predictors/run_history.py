"""The last runs of one key, and their statistics."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from typing import NamedTuple

WINDOW = 20
"""Runs that are remembered."""


class RunStatistics(NamedTuple):
    """Completed runs of a key; all but the first over the logarithms of the iterations of its last `WINDOW` runs."""

    runs: int  # all that completed
    mean: float
    median: float
    last: float
    deviation: float  # of the population: 0 for one run


class RunHistory:
    """Counts the completed runs of a key and remembers the last `WINDOW`.

    Statistics are made from the remembered values anew, in a few microseconds and only after a change: no sum is kept,
    so nothing drifts and the numbers do not depend on what was forgotten.
    """

    __slots__ = ("_recent", "_sorted", "_statistics", "runs")

    def __init__(self) -> None:
        self.runs = 0
        self._recent: deque[float] = deque()
        self._sorted: list[float] = []
        self._statistics: RunStatistics | None = None

    def add(self, log_iterations: float) -> None:
        """Add a run that completed."""
        self.runs += 1
        if len(self._recent) == WINDOW:
            oldest = self._recent.popleft()
            del self._sorted[bisect_left(self._sorted, oldest)]
        self._recent.append(log_iterations)
        insort(self._sorted, log_iterations)
        self._statistics = None

    def statistics(self) -> RunStatistics:
        """Return the statistics of a key with at least one run."""
        if self._statistics is None:
            values, count = self._sorted, len(self._sorted)
            mean = math.fsum(values) / count
            variance = math.fsum((value - mean) ** 2 for value in values) / count
            self._statistics = RunStatistics(self.runs, mean, middle(values), self._recent[-1], math.sqrt(variance))
        return self._statistics


def middle(ascending: list[float]) -> float:
    """Return the median of sorted values, at least one: of an even number the mean of the two in the middle."""
    half, odd = divmod(len(ascending), 2)
    return ascending[half] if odd else (ascending[half - 1] + ascending[half]) / 2
