"""The control: one y for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.interference_predictor.read_only import read_only

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ConstantModel:
    """Predicts the same whatever the features.

    Parameters
    ----------
    value
        The prediction, shape (), float64.
    """

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
