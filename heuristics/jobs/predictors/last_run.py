"""As many iterations as the last run of the same group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.predictors.keyed_histories import KeyedHistories
from heuristics.jobs.predictors.predictor import UNKNOWN_ITERATIONS
from heuristics.jobs.predictors.rounded_iterations import checked_unknown, rounded_iterations

if TYPE_CHECKING:
    from instances.jobs.jobs_instance import JobsInstance


class LastRun:
    """Predicts the iterations of the run of the job's group that completed last.

    A group without a completed run gives way to the same user with as many GPUs, then the user, then all jobs (ours).

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
        """Return the iterations of the last run."""
        history = self._histories.finest(job)
        return self._unknown if history is None else rounded_iterations(history.statistics().last)

    def observe(self, job: int, time: int) -> None:
        """Remember the run."""
        self._histories.observe(job)
