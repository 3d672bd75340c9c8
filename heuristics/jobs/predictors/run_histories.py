"""Completed runs by group, by user and GPUs, by user, by model, and overall, with their statistics."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable

    from instances.jobs.instance import JobsInstance


WINDOW = 20
"""Number of latest runs over which statistics are made."""


class RunStatistics(NamedTuple):
    """Completed runs of a key; all fields but the first over the logarithms of iterations of its last `WINDOW` runs."""

    runs: int  # all that completed
    mean: float
    median: float
    last: float
    deviation: float  # of the population: 0 for one run


class RunHistory:
    """Counts the completed runs of a key and keeps the last `WINDOW`.

    Statistics are computed from the kept values in a few microseconds, only after a change: no running sum is kept, so
    that nothing drifts and the numbers do not depend on older runs.
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


COARSER = {"group": "user_gpus", "user_gpus": "user", "user": "all", "model": "all"}
"""Next coarser kind of key, for a key without a completed run. That all jobs follow the model is ours."""


class KeyedHistories:
    """The history of every key of every job, updated as runs complete.

    Kinds of key are ``group``, ``user_gpus``, ``user``, ``model`` and ``all``. A key with None in it is never known.
    Iterations are read only of jobs that completed.
    """

    def __init__(self, instance: JobsInstance) -> None:
        self._instance = instance
        self._histories: dict[tuple[str, Hashable], RunHistory] = {}
        self._observed = bytearray(instance.num_jobs)

    def observe(self, job: int) -> float:
        """Add a job that completed to the histories of all its keys and return ln n.

        Raises a `ValueError` if the job completed before.
        """
        if self._observed[job]:
            raise ValueError(f"jobs[{job}]: expected one completion, got a second one.")
        self._observed[job] = True
        log_iterations = math.log(int(self._instance.iterations[job]))
        for kind in (*COARSER, "all"):
            key = self._key(job, kind)
            if key is not None:
                self._histories.setdefault((kind, key), RunHistory()).add(log_iterations)
        return log_iterations

    def known(self, job: int, kind: str) -> RunHistory | None:
        """Return the history of a job's key of a kind, None if no run of it completed."""
        return self._histories.get((kind, self._key(job, kind)))

    def finest(self, job: int, kind: str = "group") -> RunHistory | None:
        """Return the history of a job's key of a kind or else of the next coarser one that is known, None for none."""
        history = self.known(job, kind)
        while history is None and kind != "all":
            kind = COARSER[kind]
            history = self.known(job, kind)
        return history

    def _key(self, job: int, kind: str) -> Hashable:
        """Return the key, None if a part of it is unknown."""
        instance = self._instance
        if kind == "all":
            return True
        if kind == "group":
            return instance.group[job]
        if kind == "model":
            return instance.model_tag[job]
        return instance.user[job] if kind == "user" else user_and_gpus(instance, job)


def user_and_gpus(instance: JobsInstance, job: int) -> tuple[str, int] | None:
    """Return user and gang size of a job, None if the user is unknown."""
    user = instance.user[job]
    return None if user is None else (user, int(instance.gang_size[job]))


_LARGEST_LOG = 700.0  # beyond it exp overflows


def rounded_iterations(log_iterations: float) -> int:
    """Return max(1, round(exp(ln n)))."""
    return max(1, round(math.exp(min(log_iterations, _LARGEST_LOG))))


def checked_unknown(unknown: int) -> int:
    """Return the prediction before any completion, which must be at least 1; raises a `ValueError` if it is below 1."""
    if unknown < 1:
        raise ValueError(f"unknown: expected at least 1, got {unknown}.")
    return int(unknown)
