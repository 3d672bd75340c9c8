"""The median of the last runs of the same user with as many GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.predictors.keyed_histories import KeyedHistories
from heuristics.jobs.predictors.predictor import UNKNOWN_ITERATIONS
from heuristics.jobs.predictors.rounded_iterations import checked_unknown, rounded_iterations

if TYPE_CHECKING:
    from instances.jobs.jobs_instance import JobsInstance


class RunningMedian:
    """Predicts the median of the last 20 completed runs of (user, GPUs).

    The median is one of logarithms: between two runs in the middle it is their geometric mean. Without a completed run
    the user gives the median, then all jobs, 20 runs each (ours).

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
        self._histories = KeyedHistories(instance)

    def predict(self, job: int, time: int) -> int:
        """Return the median."""
        history = self._histories.finest(job, "user_gpus")
        return self._unknown if history is None else rounded_iterations(history.statistics().median)

    def observe(self, job: int, time: int) -> None:
        """Remember the run."""
        self._histories.observe(job)
