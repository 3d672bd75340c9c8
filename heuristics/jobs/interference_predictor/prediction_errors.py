"""How good predictions of y are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.interference_predictor.predicted_speed import predicted_speed, slowness

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionErrors:
    """Mean absolute errors over rows.

    Parameters
    ----------
    y
        Of y = ln(1000 / speed).
    speed
        Of the speed that simulators would use, in per mille.
    """

    y: float
    speed: float


def prediction_errors(predicted: ArrayLike, speed: ArrayLike) -> PredictionErrors:
    """Compare predicted y with true speeds in per mille, shape (rows,) each, at least one row.

    Raises
    ------
    ValueError
        If there are no rows.
    """
    y, true = np.asarray(predicted, dtype=np.float64), np.asarray(speed, dtype=np.int64)
    if not len(true):
        raise ValueError("rows: expected at least one, got none.")
    return PredictionErrors(
        y=float(np.abs(y - slowness(true)).mean()),
        speed=float(np.abs(predicted_speed(y) - true).mean()),
    )
