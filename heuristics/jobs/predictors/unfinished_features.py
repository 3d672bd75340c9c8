"""What jobs that have not completed yet tell of a job that arrives."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import TYPE_CHECKING

from heuristics.jobs.predictors.keyed_histories import user_and_gpus
from heuristics.jobs.predictors.run_history import middle

if TYPE_CHECKING:
    from collections.abc import Hashable

    from instances.jobs.jobs_instance import JobsInstance

NEVER_SECONDS = 1e9
"""Stands for the time since something that did not happen."""

NO_AGE = -1.0
"""Stands for the age where there is no unfinished job."""

_OF_KEY = ("unfinished", "largest_age", "median_age", "since_arrival", "since_completion", "arrivals")


class _Seen:
    """What happened to a key."""

    __slots__ = ("arrivals", "last_arrival", "last_completion", "unfinished")

    def __init__(self) -> None:
        self.arrivals = 0
        self.unfinished: list[float] = []  # times of arrival, ascending
        self.last_arrival: int | None = None
        self.last_completion: int | None = None


class UnfinishedFeatures:
    """Counts and ages of the jobs of the same user that arrived and have not completed.

    Completed jobs over-represent short ones: who submits a hundred jobs at once that take a day is known, for a day, by
    older and shorter ones only. For (user, GPUs) and for the user: number of unfinished jobs, logarithm of 1 + the
    largest and the median time in seconds since their arrivals, the same of the times since the last arrival and the
    last completion, and arrivals so far. Times include waiting, which a predictor does not see. No iterations enter.
    Ours.

    Parameters
    ----------
    instance
        What is scheduled.
    """

    names = tuple(f"{kind}_{name}" for kind in ("user_gpus", "user") for name in _OF_KEY)
    """Names of the features, in order."""

    def __init__(self, instance: JobsInstance) -> None:
        self._instance = instance
        self._seen: dict[Hashable, _Seen] = {}
        self._arrival: dict[int, int] = {}

    def arrive(self, job: int, time: int) -> list[float]:
        """Return the features of a job that arrives, then count it as unfinished."""
        values: list[float] = []
        for key in self._keys(job):
            seen = _Seen() if key is None else self._seen.setdefault(key, _Seen())
            values += self._of_key(seen, time)
            seen.arrivals += 1
            seen.last_arrival = time
            seen.unfinished.append(time)
        self._arrival[job] = time
        return values

    def complete(self, job: int, time: int) -> None:
        """Count a job as completed."""
        arrival = self._arrival.pop(job)
        for key in self._keys(job):
            if key is not None:
                seen = self._seen[key]
                seen.last_completion = time
                del seen.unfinished[bisect_left(seen.unfinished, arrival)]

    def _keys(self, job: int) -> tuple[Hashable, Hashable]:
        """Return the keys of a job; None where the user is unknown."""
        return user_and_gpus(self._instance, job), self._instance.user[job]

    def _of_key(self, seen: _Seen, time: int) -> list[float]:
        """Return the features of one key."""
        waiting = seen.unfinished
        ages = [self._log_since(time, since) for since in (waiting[0], middle(waiting))] if waiting else [NO_AGE] * 2
        since = [self._log_since(time, last) for last in (seen.last_arrival, seen.last_completion)]
        return [float(len(waiting)), *ages, *since, float(seen.arrivals)]

    def _log_since(self, time: int, past: float | None) -> float:
        """Return ln(1 + seconds since then)."""
        return math.log1p(NEVER_SECONDS if past is None else (time - past) * self._instance.tick_seconds)
