"""A network of two hidden layers that tells y: weights and forward pass in NumPy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.interference_predictor.read_only import read_only
from heuristics.jobs.interference_predictor.standardised import standardised

if TYPE_CHECKING:
    from numpy.typing import NDArray

NUM_HIDDEN = 64
"""Units of each of the two hidden layers."""

LAYERS = ("w1", "b1", "w2", "b2", "w3", "b3")
"""Names of the weights, in order."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NetworkModel:
    """Standardised features -> 64 -> 64 -> 1 with ReLU and a softplus at the end, so that y is above 0.

    Parameters
    ----------
    mean, scale
        Of the features, shape (features,), float64.
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
