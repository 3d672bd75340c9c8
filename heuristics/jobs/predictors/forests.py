"""Random forests on completed jobs: features, cold start, retraining, and prediction of means or medians."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heuristics.jobs.predictors.predictor import UNKNOWN_ITERATIONS
from heuristics.jobs.predictors.run_histories import (
    KeyedHistories,
    RunStatistics,
    checked_unknown,
    middle,
    rounded_iterations,
    user_and_gpus,
)
from instances.kernels import kernel

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from instances.jobs.instance import JobsInstance


KEYS = ("group", "user", "user_gpus", "model")
"""Kinds of key whose completed runs are described."""

CLOCK = ("hour_sine", "hour_cosine", "weekday_sine", "weekday_cosine")
"""Features that need the time of day and the day of the week."""

_DAY, _WEEK = 86_400.0, 604_800.0


class JobFeatures:
    """Computes the features of jobs that arrive, from the jobs that completed before.

    For each key of `KEYS`: completed runs; mean, median, last value and standard deviation of ln n over the last 20 of
    them; whether the key was missing, that is unknown or without a completed run. A missing key takes all five values
    of the next coarser one (group -> (user, GPUs) -> user -> all jobs; model -> all jobs). Where no job completed yet
    they are 0 runs, the logarithm of `unknown` and no deviation (ours). Then ln g, S, Q, ln(1 + sum of par over
    stages), and hour and weekday as sine and cosine if the time is known.

    Parameters
    ----------
    histories
        The jobs that completed; its owner keeps it up to date.
    unknown
        Iterations that stand for an empty history, at least 1.
    clock_seconds
        Seconds between Monday, 0:00 and tick 0, for instances whose releases follow a real clock; None leaves the
        features of the clock out. Neither instances nor the public excerpts of traces contain it.
    """

    def __init__(
        self, instance: JobsInstance, histories: KeyedHistories, *, unknown: int, clock_seconds: float | None = None
    ) -> None:
        self._histories = histories
        log_unknown = math.log(unknown)
        self._nothing = RunStatistics(0, log_unknown, log_unknown, log_unknown, 0.0)
        self._tick_seconds = instance.tick_seconds
        self._clock_seconds = clock_seconds
        parameters = np.array(
            [math.fsum(instance.parameter_bytes[instance.stages_of(job)].tolist()) for job in range(instance.num_jobs)]
        )
        self._of_job = np.column_stack(
            [np.log(instance.gang_size), np.diff(instance.stage_offsets), instance.micro_batches, np.log1p(parameters)]
        ).tolist()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, in order."""
        of_key = (*RunStatistics._fields, "missing")
        names = tuple(f"{kind}_{name}" for kind in KEYS for name in of_key)
        clock = () if self._clock_seconds is None else CLOCK
        return (*names, "log_gpus", "stages", "micro_batches", "log_parameter_bytes", *clock)

    def of(self, job: int, time: int) -> NDArray[np.float64]:
        """Return the features of a job that arrives now, shape (features,), in the order of `names`."""
        values: list[float] = []
        for kind in KEYS:
            history = self._histories.finest(job, kind)
            values += self._nothing if history is None else history.statistics()
            values.append(float(self._histories.known(job, kind) is None))
        values += self._of_job[job]
        if self._clock_seconds is not None:
            seconds = time * self._tick_seconds + self._clock_seconds
            for period, phase in ((_DAY, seconds % _DAY), (_WEEK, seconds % _WEEK // _DAY * _DAY)):
                angle = 2 * math.pi * phase / period
                values += [math.sin(angle), math.cos(angle)]
        return np.array(values)


class ForestArrays(NamedTuple):
    """The concatenated trees of a forest; children are numbered over all trees."""

    roots: NDArray[np.int64]  # (trees,)
    feature: NDArray[np.int64]  # (nodes,); -1 at leaves
    threshold: NDArray[np.float64]  # (nodes,)
    left: NDArray[np.int64]  # (nodes,), child if the feature is at most the threshold
    right: NDArray[np.int64]  # (nodes,)
    value: NDArray[np.float64]  # (nodes,)


def forest_arrays(forest: Any) -> ForestArrays:
    """Return the trees of a fitted random forest regressor of scikit-learn with one output."""
    trees = [estimator.tree_ for estimator in forest.estimators_]
    roots = np.cumsum([0, *(tree.node_count for tree in trees)])
    is_leaf = np.concatenate([tree.children_left for tree in trees]) < 0
    return ForestArrays(
        roots=roots[:-1].astype(np.int64),
        feature=np.where(is_leaf, -1, np.concatenate([tree.feature for tree in trees])).astype(np.int64),
        threshold=np.concatenate([tree.threshold for tree in trees]).astype(np.float64),
        left=np.concatenate([tree.children_left + root for tree, root in zip(trees, roots, strict=False)]),
        right=np.concatenate([tree.children_right + root for tree, root in zip(trees, roots, strict=False)]),
        value=np.concatenate([tree.value[:, 0, 0] for tree in trees]).astype(np.float64),
    )


@kernel
def forest_prediction(
    roots: NDArray[np.int64],
    feature: NDArray[np.int64],
    threshold: NDArray[np.float64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    value: NDArray[np.float64],
    row: NDArray[np.float32],
) -> float:
    """Return the mean over the trees for one row without NaN: to the bit what scikit-learn predicts on one thread.

    scikit-learn compares features of 32 bits with thresholds of 64, adds up the trees in order and divides at the end.
    Its own predict call costs milliseconds, however small the forest is.
    """
    total = 0.0
    for root in roots:
        node = root
        while feature[node] >= 0:
            node = left[node] if row[feature[node]] <= threshold[node] else right[node]
        total += value[node]
    return total / len(roots)


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
    since, and is made at the next arrival, on the jobs completed by then (ours: unneeded fits are avoided). The
    first is made at the first arrival after `cold_start` completions.

    Parameters
    ----------
    rng
        Source of the seed of the forest, one for all fits.
    trees, min_leaf
        Number of trees and least number of rows in a leaf; at least 1.
    max_features
        Share of the features that a split chooses among, in (0, 1]; a third is Breiman's advice for regression.
    max_rows
        Largest number of rows to train on: the last to complete.
    cold_start
        Completed jobs before the first fit, at least 1.
    retrain_completions, retrain_hours
        When a new fit is due; at least 1 and above 0.
    unknown
        Prediction before any job has completed, at least 1.
    clock_seconds
        Seconds between Monday, 0:00 and tick 0; None for no features of the clock.

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

        Raises a `ValueError` if the job was predicted before.
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
        """Turn the stored features and the true iterations into a training row.

        Raises a `ValueError` if the job was not predicted before, or completed before.
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
        """Return whether a fit is due before the next prediction."""
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


class RandomForest(RetrainedForest):
    """Predicts ln n by the mean of a random forest of scikit-learn over the features of `JobFeatures`.

    Parameters, cold start and retraining are those of `RetrainedForest`. A mean of logarithms predicts a geometric
    mean and is fitted to least squares: if the runs of a key are either short or long it predicts neither, and a median
    can have the smaller absolute error (`MedianForest`).

    References
    ----------
    Luo et al. (2025), arXiv 2501.05563, predict iterations by a random forest because jobs recur; features, numbers,
    cold start and retraining are a reconstruction of ours. Breiman (2001), Random forests, Machine Learning 45.
    """

    def _fit(self, rows: NDArray[np.float32], targets: NDArray[np.float64]) -> ForestArrays:
        """Return the fitted trees."""
        return forest_arrays(self._grown(rows, targets))

    def _log_prediction(self, row: NDArray[np.float32]) -> float:
        """Return the mean over the trees."""
        forest: ForestArrays = self._forest
        return forest_prediction(*forest, row)


NEVER_SECONDS = 1e9
"""Seconds that stand for the time since an event that did not happen."""

NO_AGE = -1.0
"""Age that stands for no unfinished job."""

_OF_KEY = ("unfinished", "largest_age", "median_age", "since_arrival", "since_completion", "arrivals")


class _Seen:
    """Arrivals and completions of a key."""

    __slots__ = ("arrivals", "last_arrival", "last_completion", "unfinished")

    def __init__(self) -> None:
        self.arrivals = 0
        self.unfinished: list[float] = []  # times of arrival, ascending
        self.last_arrival: int | None = None
        self.last_completion: int | None = None


class UnfinishedFeatures:
    """Counts and ages of the jobs of the same user that arrived and have not completed.

    Completed jobs over-represent short ones: if a user submits a hundred jobs at once that take a day, only older and
    shorter jobs of that user have completed for the next day. For (user, GPUs) and for the user the features are:
    number of unfinished jobs, logarithm of 1 + the largest and the median time in seconds since their arrivals, the
    same of the times since the last arrival and the last completion, and arrivals so far. Times include waiting, which
    a predictor does not see. No iterations are used. Ours.
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
        """Return the keys of a job; None if the user is unknown."""
        return user_and_gpus(self._instance, job), self._instance.user[job]

    def _of_key(self, seen: _Seen, time: int) -> list[float]:
        """Return the features of one key."""
        waiting = seen.unfinished
        ages = [self._log_since(time, since) for since in (waiting[0], middle(waiting))] if waiting else [NO_AGE] * 2
        since = [self._log_since(time, last) for last in (seen.last_arrival, seen.last_completion)]
        return [float(len(waiting)), *ages, *since, float(seen.arrivals)]

    def _log_since(self, time: int, past: float | None) -> float:
        """Return ln(1 + seconds since a past tick)."""
        return math.log1p(NEVER_SECONDS if past is None else (time - past) * self._instance.tick_seconds)


class LeafMembers(NamedTuple):
    """Training rows by leaf, as ranks of their targets; nodes are numbered over all trees as in `ForestArrays`."""

    targets: NDArray[np.float64]  # (rows,), ascending
    offsets: NDArray[np.int64]  # (nodes + 1,), where the members of a node begin
    ranks: NDArray[np.int64]  # (trees * rows,), positions in `targets`


def leaf_members(
    forest: Any, roots: NDArray[np.int64], rows: NDArray[np.float32], targets: NDArray[np.float64]
) -> LeafMembers:
    """Return the leaf of every training row in every tree of a fitted forest of scikit-learn."""
    order = np.argsort(targets, kind="stable")
    leaves = forest.apply(rows[order]) + roots  # (rows, trees)
    num_nodes = int(roots[-1]) + forest.estimators_[-1].tree_.node_count
    ranks = np.repeat(np.arange(len(order), dtype=np.int64), len(roots))
    by_leaf = np.argsort(leaves.ravel(), kind="stable")
    sizes = np.bincount(leaves.ravel(), minlength=num_nodes)
    return LeafMembers(targets[order], np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), ranks[by_leaf])


@kernel
def conditional_median(
    roots: NDArray[np.int64],
    feature: NDArray[np.int64],
    threshold: NDArray[np.float64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    targets: NDArray[np.float64],
    offsets: NDArray[np.int64],
    ranks: NDArray[np.int64],
    row: NDArray[np.float32],
) -> float:
    """Return the weighted median of the training targets: the smallest with at least half of the weight up to it.

    Every tree gives weight 1, in equal parts to the training rows in the leaf of the new row.
    """
    weights = np.zeros(len(targets))
    for root in roots:
        node = root
        while feature[node] >= 0:
            node = left[node] if row[feature[node]] <= threshold[node] else right[node]
        share = 1.0 / (offsets[node + 1] - offsets[node])
        for member in range(offsets[node], offsets[node + 1]):
            weights[ranks[member]] += share
    half, total = 0.0, 0.0
    for rank in range(len(targets)):
        half += weights[rank] / 2
    for rank in range(len(targets)):
        total += weights[rank]
        if total >= half * (1 - 1e-12):  # the sum of shares may miss the half by rounding
            return targets[rank]
    return targets[-1]


BASE = "user_gpus_median"
"""Feature whose difference to ln n is learned: the prediction of the running median."""


class _Fitted(NamedTuple):
    """A forest and the training rows in its leaves."""

    trees: ForestArrays
    members: LeafMembers


class MedianForest(RetrainedForest):
    """Predicts the conditional median of ln n: the running median of (user, GPUs) plus a correction by a forest.

    Ours, made for a small absolute error on traces where the runs of one user are either short or long; it differs from
    `RandomForest` in three ways. Features of unfinished jobs (`UnfinishedFeatures`) are added. The target is ln n minus
    the running median at arrival, so that a forest that learns nothing is the running median. The prediction is the
    median of the training targets in the leaves instead of their mean. It still trains on completed jobs only, and no
    iterations of an unfinished job are read. These choices and `min_leaf` were made on the Philly and Helios excerpts,
    and its errors there are not errors on unseen data.

    Parameters
    ----------
    instance, rng
        As in `RetrainedForest`.
    min_leaf
        Least number of rows in a leaf, 10 because a median needs more rows than a mean.
    parameters
        Other parameters of `RetrainedForest`.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Meinshausen (2006), Quantile regression forests, JMLR 7: weights of the training rows. All of them count in every
    tree, whether the tree was grown on them or not.
    """

    def __init__(
        self, instance: JobsInstance, rng: np.random.Generator, *, min_leaf: int = 10, **parameters: Any
    ) -> None:
        self._unfinished = UnfinishedFeatures(instance)
        super().__init__(instance, rng, min_leaf=min_leaf, **parameters)
        self._base = self.feature_names.index(BASE)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in order."""
        return (*super().feature_names, *self._unfinished.names)

    def observe(self, job: int, time: int) -> None:
        """Turn the stored features and the true iterations into a training row; the job is no longer unfinished.

        Raises a `ValueError` if the job was not predicted before, or completed before.
        """
        super().observe(job, time)
        self._unfinished.complete(job, time)

    def _features_of(self, job: int, time: int) -> NDArray[np.float64]:
        """Return the features of a job that arrives now, and count it as unfinished."""
        return np.concatenate([super()._features_of(job, time), self._unfinished.arrive(job, time)])

    def _fit(self, rows: NDArray[np.float32], targets: NDArray[np.float64]) -> _Fitted:
        """Return the trees and their leaves."""
        differences = targets - rows[:, self._base]
        forest = self._grown(rows, differences)
        trees = forest_arrays(forest)
        return _Fitted(trees, leaf_members(forest, trees.roots, rows, differences))

    def _log_prediction(self, row: NDArray[np.float32]) -> float:
        """Return the running median plus the median difference."""
        forest: _Fitted = self._forest
        return float(row[self._base]) + conditional_median(*forest.trees[:5], *forest.members, row)
