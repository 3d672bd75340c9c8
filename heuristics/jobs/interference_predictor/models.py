"""Models of the slowness y: a constant, a linear one, and a small neural network, for use in NumPy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray


def read_only(values: ArrayLike, dtype: DTypeLike) -> NDArray[np.generic]:
    """Return a read-only copy with a dtype."""
    array: NDArray[np.generic] = np.array(values, dtype=dtype, order="C")
    array.flags.writeable = False
    return array


_SAME = 1e-12  # a smaller deviation, relative to the values, is rounding of one constant


def mean_and_scale(features: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and 1 / standard deviation of every feature, each of shape (features,).

    A feature that is constant in training has scale 0 (ours): nothing is learned from it, and it has no effect later.
    """
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    is_constant = deviation <= _SAME * np.abs(features).max(axis=0, initial=0.0)
    return mean, np.where(is_constant, 0.0, 1.0 / np.where(is_constant, 1.0, deviation))


def standardised(
    features: NDArray[np.float64], mean: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (features - mean) * scale, shape (rows, features)."""
    return (features - mean) * scale


class SpeedModel(Protocol):
    """Predicts y = ln(1000 / speed) from features; a frozen dataclass of arrays, so that it can be stored."""

    def predict(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return y, at least 0, of shape (rows,), for features of shape (rows, features)."""
        ...


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ConstantModel:
    """Predicts a constant. `value` has shape () and is float64."""

    value: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Take a private, read-only copy."""
        object.__setattr__(self, "value", read_only(self.value, np.float64))

    def predict(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return y; see `SpeedModel`."""
        return np.full(len(features), float(self.value))


def fit_constant(y: ArrayLike) -> ConstantModel:
    """Return the constant with the least mean absolute error, the median."""
    return ConstantModel(value=np.asarray(np.median(np.asarray(y, dtype=np.float64))))


PENALTY = 1e-3
"""Weight of the sum of squared weights relative to the sum of squared errors."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RidgeModel:
    """Predicts a weighted sum of standardised features, or 0 where that is negative (ours, because y never is).

    Parameters
    ----------
    mean, scale, weights
        Shape (features,), float64; see `mean_and_scale`.
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


NUM_HIDDEN = 64
"""Units of each of the two hidden layers."""

LAYERS = ("w1", "b1", "w2", "b2", "w3", "b3")
"""Names of the weights, in order."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NeuralNetworkModel:
    """Standardised features -> 64 -> 64 -> 1 with ReLU and a softplus at the end, so that y is above 0.

    Parameters
    ----------
    mean, scale
        Shape (features,), float64; see `mean_and_scale`.
    w1, b1, w2, b2, w3, b3
        Weights, float32; row i of a matrix belongs to input i. Shapes (features, hidden), (hidden,), (hidden, hidden),
        (hidden,), (hidden, 1), (1,).
    """

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    w1: NDArray[np.float32]
    b1: NDArray[np.float32]
    w2: NDArray[np.float32]
    b2: NDArray[np.float32]
    w3: NDArray[np.float32]
    b3: NDArray[np.float32]

    def __post_init__(self) -> None:
        """Take private, read-only copies."""
        for name in ("mean", "scale"):
            object.__setattr__(self, name, read_only(getattr(self, name), np.float64))
        for name in LAYERS:
            object.__setattr__(self, name, read_only(getattr(self, name), np.float32))

    def predict(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return y; see `SpeedModel`. In double precision."""
        hidden = np.maximum(0.0, standardised(features, self.mean, self.scale) @ self.w1 + self.b1)
        hidden = np.maximum(0.0, hidden @ self.w2 + self.b2)
        return np.asarray(np.logaddexp(0.0, (hidden @ self.w3 + self.b3)[:, 0]))


def initial_layers(num_features: int, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
    """Return random weights by name: He et al. (2015), variance 2 / inputs, biases 0."""
    layers = {}
    for name, inputs, outputs in (("1", num_features, NUM_HIDDEN), ("2", NUM_HIDDEN, NUM_HIDDEN), ("3", NUM_HIDDEN, 1)):
        drawn = math.sqrt(2.0 / inputs) * rng.standard_normal((inputs, outputs))
        layers[f"w{name}"] = drawn.astype(np.float32)
        layers[f"b{name}"] = np.zeros(outputs, dtype=np.float32)
    return layers
