"""Features brought to mean 0 and deviation 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SAME = 1e-12  # a smaller deviation, relative to the values, is rounding of one constant


def mean_and_scale(features: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and 1 / standard deviation of every feature, each of shape (features,).

    A feature that is constant in training has scale 0 (ours): nothing was learned of it, and nothing comes of it later.
    """
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    is_constant = deviation <= _SAME * np.abs(features).max(axis=0, initial=0.0)
    return mean, np.where(is_constant, 0.0, 1.0 / np.where(is_constant, 1.0, deviation))


def standardised(
    features: NDArray[np.float64], mean: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (features - mean) * scale, shape (rows, features)."""
    return (features - mean) * scale
