"""The same number for every job: what a policy does without predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.predictors.predictor import UNKNOWN_ITERATIONS

if TYPE_CHECKING:
    from instances.jobs.jobs_instance import JobsInstance


class NoPrediction:
    """Predicts one constant, so that jobs differ in what is known of them only: GPUs and time of an iteration.

    Parameters
    ----------
    instance
        What is scheduled; not looked at.
    iterations
        The constant, at least 1.

    Raises
    ------
    ValueError
        If the constant is below 1.
    """

    def __init__(self, instance: JobsInstance, *, iterations: int = UNKNOWN_ITERATIONS) -> None:
        if iterations < 1:
            raise ValueError(f"iterations: expected at least 1, got {iterations}.")
        self._iterations = int(iterations)

    def predict(self, job: int, time: int) -> int:
        """Return the constant."""
        return self._iterations

    def observe(self, job: int, time: int) -> None:
        """Learn nothing."""
