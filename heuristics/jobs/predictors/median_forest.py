"""A random forest that predicts medians and knows of unfinished jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heuristics.jobs.predictors.forest_arrays import ForestArrays, forest_arrays
from heuristics.jobs.predictors.leaf_members import LeafMembers, conditional_median, leaf_members
from heuristics.jobs.predictors.retrained_forest import RetrainedForest
from heuristics.jobs.predictors.unfinished_features import UnfinishedFeatures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.jobs.jobs_instance import JobsInstance

BASE = "user_gpus_median"
"""Feature whose difference to ln n is learned: what the running median predicts."""


class _Fitted(NamedTuple):
    """A forest and the training rows in its leaves."""

    trees: ForestArrays
    members: LeafMembers


class MedianForest(RetrainedForest):
    """Predicts the conditional median of ln n: the running median of (user, GPUs) plus what a forest adds to it.

    Ours, made for a small absolute error on traces where the runs of one user are either short or long; it differs from
    `RandomForest` in three ways. Features of unfinished jobs (`UnfinishedFeatures`) are added. The target is ln n minus
    the running median at arrival, so that a forest that learns nothing is the running median. And the prediction is the
    median of the training targets in the leaves instead of their mean. It still trains on completed jobs only, and no
    iterations of an unfinished job are read. These choices and `min_leaf` were made on the Philly and Helios cuts, so
    its numbers there are not those of data never seen.

    Parameters
    ----------
    instance, rng
        As in `RetrainedForest`.
    min_leaf
        Rows in a leaf at least: 10, for a median needs more of them than a mean.
    parameters
        The others of `RetrainedForest`.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Meinshausen (2006), Quantile regression forests, JMLR 7: weights of the training rows. All of them are dropped down
    every tree, whether the tree was grown on them or not.
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
        """Make the stored features and the true iterations a row to train on; the job is not unfinished any more.

        Raises
        ------
        ValueError
            If the job was not predicted before, or completed before.
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
