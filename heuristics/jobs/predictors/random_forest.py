"""A random forest on what completed jobs tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.predictors.forest_arrays import ForestArrays, forest_arrays, forest_prediction
from heuristics.jobs.predictors.retrained_forest import RetrainedForest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class RandomForest(RetrainedForest):
    """Predicts ln n by the mean of a random forest of scikit-learn over the features of `JobFeatures`.

    Parameters, cold start and retraining are those of `RetrainedForest`. A mean of logarithms predicts a geometric
    mean, and least squares are what it is fitted for: where the runs of a key are either short or long it predicts
    neither, and a median can have the smaller absolute error (`MedianForest`).

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
