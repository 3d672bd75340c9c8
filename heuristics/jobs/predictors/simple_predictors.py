"""Predictors without a model: the truth, the truth with noise, a constant, the last run, and medians of runs."""

from __future__ import annotations

import math
from bisect import insort
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.predictors.predictor import UNKNOWN_ITERATIONS
from heuristics.jobs.predictors.run_histories import KeyedHistories, checked_unknown, middle, rounded_iterations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.jobs.instance import JobsInstance


class Oracle:
    """Predicts the true iterations, which no online policy knows."""

    def __init__(self, instance: JobsInstance) -> None:
        self._iterations = instance.iterations.tolist()

    def predict(self, job: int, time: int) -> int:
        """Return the true iterations."""
        return int(self._iterations[job])

    def observe(self, job: int, time: int) -> None:
        """Learn nothing."""


class NoisyOracle:
    """Predicts max(1, round(n * mu**U)) with U uniform in [-1, 1], so that the error is a factor of mu at most.

    U is drawn per job when the predictor is made: the same generator gives the same U for every `mu`, in whatever order
    the jobs arrive. Rounding adds to the factor if n is small.

    Parameters
    ----------
    rng
        Source of U.
    mu
        Largest factor of the error, at least 1; 1 is the oracle.

    Raises
    ------
    ValueError
        If `mu` is below 1 or not finite.
    """

    def __init__(self, instance: JobsInstance, rng: np.random.Generator, *, mu: float = 2.0) -> None:
        if not 1 <= mu < np.inf:
            raise ValueError(f"mu: expected a finite number of at least 1, got {mu}.")
        factors: NDArray[np.float64] = mu ** rng.uniform(-1.0, 1.0, size=instance.num_jobs)
        noisy = zip(instance.iterations.tolist(), factors.tolist(), strict=True)
        self._predictions: list[int] = [max(1, round(n * factor)) for n, factor in noisy]

    def predict(self, job: int, time: int) -> int:
        """Return the true iterations times the job's factor."""
        return self._predictions[job]

    def observe(self, job: int, time: int) -> None:
        """Learn nothing."""


class NoPrediction:
    """Predicts one constant, so that jobs differ only in GPUs and iteration time, which are known.

    Raises a `ValueError` if the constant is below 1.
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


class _HistoryPredictor:
    """Keeps the histories of all keys of jobs.

    Raises a `ValueError` if `unknown`, the prediction before any job has completed, is below 1.
    """

    def __init__(self, instance: JobsInstance, *, unknown: int = UNKNOWN_ITERATIONS) -> None:
        self._unknown = checked_unknown(unknown)
        self._histories = KeyedHistories(instance)

    def observe(self, job: int, time: int) -> None:
        """Record the run."""
        self._histories.observe(job)


class LastRun(_HistoryPredictor):
    """Predicts the iterations of the run of the job's group that completed last.

    If no run of the group completed, the last run of (user, GPUs) counts, then of the user, then of all jobs (ours).
    """

    def predict(self, job: int, time: int) -> int:
        """Return the iterations of the last run."""
        history = self._histories.finest(job)
        return self._unknown if history is None else rounded_iterations(history.statistics().last)


class RunningMedian(_HistoryPredictor):
    """Predicts the median of the last 20 completed runs of (user, GPUs).

    The median is one of logarithms: between two runs in the middle it is their geometric mean. If no such run
    completed, the runs of the user count, then those of all jobs, 20 each (ours).
    """

    def predict(self, job: int, time: int) -> int:
        """Return the median."""
        history = self._histories.finest(job, "user_gpus")
        return self._unknown if history is None else rounded_iterations(history.statistics().median)


class GlobalMedian:
    """Predicts the median of all completed jobs of all users; of logarithms, as `RunningMedian`.

    Raises a `ValueError` if `unknown`, the prediction before any job has completed, is below 1.
    """

    def __init__(self, instance: JobsInstance, *, unknown: int = UNKNOWN_ITERATIONS) -> None:
        self._unknown = checked_unknown(unknown)
        self._instance = instance
        self._ascending: list[float] = []

    def predict(self, job: int, time: int) -> int:
        """Return the median."""
        return rounded_iterations(middle(self._ascending)) if self._ascending else self._unknown

    def observe(self, job: int, time: int) -> None:
        """Record the run."""
        insort(self._ascending, math.log(int(self._instance.iterations[job])))
