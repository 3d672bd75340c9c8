"""The median of all jobs that completed."""

from __future__ import annotations

import math
from bisect import insort
from typing import TYPE_CHECKING

from heuristics.jobs.predictors.predictor import UNKNOWN_ITERATIONS
from heuristics.jobs.predictors.rounded_iterations import checked_unknown, rounded_iterations
from heuristics.jobs.predictors.run_history import middle

if TYPE_CHECKING:
    from instances.jobs.jobs_instance import JobsInstance


class GlobalMedian:
    """Predicts the median of all completed jobs, whoever submitted them; of logarithms, as `RunningMedian`.

    Parameters
    ----------
    instance
        What is scheduled.
    unknown
        Prediction where nothing completed yet, at least 1.

    Raises
    ------
    ValueError
        If `unknown` is below 1.
    """

    def __init__(self, instance: JobsInstance, *, unknown: int = UNKNOWN_ITERATIONS) -> None:
        self._unknown = checked_unknown(unknown)
        self._instance = instance
        self._ascending: list[float] = []

    def predict(self, job: int, time: int) -> int:
        """Return the median."""
        return rounded_iterations(middle(self._ascending)) if self._ascending else self._unknown

    def observe(self, job: int, time: int) -> None:
        """Remember the run."""
        insort(self._ascending, math.log(int(self._instance.iterations[job])))
