"""A linear model of y."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.interference_predictor.read_only import read_only
from heuristics.jobs.interference_predictor.standardised import mean_and_scale, standardised

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

PENALTY = 1e-3
"""Of the sum of squared weights, beside the sum of squared errors."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RidgeModel:
    """Predicts a weighted sum of standardised features, or 0 where that is negative (ours, for y is never).

    Parameters
    ----------
    mean, scale
        Of the features, shape (features,), float64.
    weights
        Shape (features,), float64.
    intercept
        Shape (), float64.
    """

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    weights: NDArray[np.float64]
    intercept: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Take private, read-only copies."""
        for name in ("mean", "scale", "weights", "intercept"):
            object.__setattr__(self, name, read_only(getattr(self, name), np.float64))

    def predict(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return y; see `SpeedModel`."""
        sums = standardised(features, self.mean, self.scale) @ self.weights + self.intercept
        return np.asarray(np.maximum(0.0, sums))


def fit_ridge(features: NDArray[np.float64], y: ArrayLike, penalty: float = PENALTY) -> RidgeModel:
    """Minimise sum (y - b - x w)^2 + penalty * sum w^2 over standardised features x, exactly; b is not penalised.

    Parameters
    ----------
    features
        Shape (rows, features), at least one row.
    y
        Shape (rows,).
    penalty
        Above 0.
    """
    mean, scale = mean_and_scale(features)
    x, target = standardised(features, mean, scale), np.asarray(y, dtype=np.float64)
    intercept = target.mean()  # features have mean 0
    left = x.T @ x + penalty * np.eye(x.shape[1])
    weights = np.linalg.solve(left, x.T @ (target - intercept))
    return RidgeModel(mean=mean, scale=scale, weights=weights, intercept=intercept)
