"""What forests on completed jobs have in common: stored features, cold start, retraining."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heuristics.jobs.predictors.job_features import JobFeatures
from heuristics.jobs.predictors.keyed_histories import KeyedHistories
from heuristics.jobs.predictors.predictor import UNKNOWN_ITERATIONS
from heuristics.jobs.predictors.rounded_iterations import checked_unknown, rounded_iterations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.jobs.jobs_instance import JobsInstance

CAP = 10
"""No prediction of a forest exceeds this many times the largest n seen."""


class Fit(NamedTuple):
    """When a forest was fitted, and on how much."""

    time: int  # ticks
    completed: int  # jobs that had completed
    rows: int  # of them trained on


class RetrainedForest(ABC):
    """Predicts ln n by a forest that is trained on completed jobs only, again and again.

    Features are computed when a job arrives and stored; the row of a completed job is what was stored, so that no row
    knows more than a prediction at its arrival could. nhat = max(1, round(exp(prediction))), at most 10 times the
    largest n seen. Before the first fit it is the median of ln n over the last 20 runs of the finest known key (group,
    then user and GPUs, user, all jobs), or `unknown`.

    A fit is due after `retrain_completions` completions or `retrain_hours` hours since the last one, if a job completed
    since, and is made at the next arrival, on the jobs completed by then (ours: no fit is made that nobody asks). The
    first is made at the first arrival after `cold_start` completions.

    Parameters
    ----------
    instance
        What is scheduled.
    rng
        Gives the seed of the forest, one for all fits.
    trees, min_leaf
        Number of trees, rows in a leaf at least; at least 1.
    max_features
        Share of the features that a split chooses among, in (0, 1]; a third is Breiman's advice for regression.
    max_rows
        Rows to train on at most: the last to complete.
    cold_start
        Completed jobs before the first fit, at least 1.
    retrain_completions, retrain_hours
        When a new fit is due; at least 1 and above 0.
    unknown
        Prediction where nothing completed yet, at least 1.
    clock_seconds
        Seconds between Monday, 0:00 and tick 0; None: no features of the clock.

    Attributes
    ----------
    fits_
        All fits so far, in order.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    def __init__(
        self,
        instance: JobsInstance,
        rng: np.random.Generator,
        *,
        trees: int = 100,
        min_leaf: int = 3,
        max_features: float = 1 / 3,
        max_rows: int = 20_000,
        cold_start: int = 50,
        retrain_completions: int = 500,
        retrain_hours: float = 6.0,
        unknown: int = UNKNOWN_ITERATIONS,
        clock_seconds: float | None = None,
    ) -> None:
        counts = {"trees": trees, "min_leaf": min_leaf, "max_rows": max_rows, "cold_start": cold_start}
        for name, value in {**counts, "retrain_completions": retrain_completions}.items():
            if value < 1:
                raise ValueError(f"{name}: expected at least 1, got {value}.")
        if not 0 < max_features <= 1:
            raise ValueError(f"max_features: expected a share above 0 and at most 1, got {max_features}.")
        if not retrain_hours > 0:
            raise ValueError(f"retrain_hours: expected above 0, got {retrain_hours}.")
        self._unknown = checked_unknown(unknown)
        self._seed = int(rng.integers(2**31))
        self._trees, self._min_leaf, self._max_features = trees, min_leaf, float(max_features)
        self._max_rows, self._cold_start, self._retrain_completions = max_rows, cold_start, retrain_completions
        self._retrain_ticks = retrain_hours * 3600 / instance.tick_seconds
        self._histories = KeyedHistories(instance)
        self._features = JobFeatures(instance, self._histories, unknown=self._unknown, clock_seconds=clock_seconds)
        self._stored = np.full((instance.num_jobs, len(self.feature_names)), np.nan, dtype=np.float32)
        self._completed: list[int] = []
        self._targets: list[float] = []
        self._largest = 0.0
        self._forest: Any = None
        self.fits_: list[Fit] = []

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in order."""
        return self._features.names

    def predict(self, job: int, time: int) -> int:
        """Store the features of a job and return its predicted iterations.

        Raises
        ------
        ValueError
            If the job was predicted before.
        """
        row = self._stored[job]
        if not np.isnan(row[0]):
            raise ValueError(f"jobs[{job}]: expected one prediction, got a second one.")
        row[:] = self._features_of(job, time)
        if self._is_due(time):
            rows = self._completed[-self._max_rows :]
            self._forest = self._fit(self._stored[rows], np.array(self._targets[-self._max_rows :]))
            self.fits_.append(Fit(time, len(self._completed), len(rows)))
        if self._forest is not None:
            return rounded_iterations(min(self._log_prediction(row), self._largest + math.log(CAP)))
        history = self._histories.finest(job)
        return self._unknown if history is None else rounded_iterations(history.statistics().median)

    def observe(self, job: int, time: int) -> None:
        """Make the stored features and the true iterations a row to train on.

        Raises
        ------
        ValueError
            If the job was not predicted before, or completed before.
        """
        if np.isnan(self._stored[job, 0]):
            raise ValueError(f"jobs[{job}]: expected a prediction before the completion, got none.")
        target = self._histories.observe(job)
        self._completed.append(job)
        self._targets.append(target)
        self._largest = max(self._largest, target)

    @abstractmethod
    def _fit(self, rows: NDArray[np.float32], targets: NDArray[np.float64]) -> Any:
        """Return a forest fitted to ln n of completed jobs."""

    @abstractmethod
    def _log_prediction(self, row: NDArray[np.float32]) -> float:
        """Return the predicted ln n."""

    def _features_of(self, job: int, time: int) -> NDArray[np.float64]:
        """Return the features of a job that arrives now."""
        return self._features.of(job, time)

    def _is_due(self, time: int) -> bool:
        """Say whether a fit has to be made before the next prediction."""
        completed = len(self._completed)
        if not self.fits_:
            return completed >= self._cold_start
        new = completed - self.fits_[-1].completed
        return new >= self._retrain_completions or (new > 0 and time - self.fits_[-1].time >= self._retrain_ticks)

    def _grown(self, rows: NDArray[np.float32], targets: NDArray[np.float64]) -> Any:
        """Return a random forest regressor of scikit-learn, fitted on one thread."""
        from sklearn.ensemble import RandomForestRegressor

        forest = RandomForestRegressor(
            n_estimators=self._trees,
            min_samples_leaf=self._min_leaf,
            max_features=self._max_features,
            random_state=self._seed,
            n_jobs=1,
        )
        return forest.fit(rows, targets)
