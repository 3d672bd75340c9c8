"""Between y, which predictors learn, and speeds, which simulators want."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.interference import FULL_SPEED

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def slowness(speed: ArrayLike) -> NDArray[np.float64]:
    """Return y = ln(1000 / speed) of speeds in per mille: 0 at full speed."""
    return np.log(FULL_SPEED / np.asarray(speed, dtype=np.float64))


def predicted_speed(y: ArrayLike) -> NDArray[np.int64]:
    """Return clip(floor(1000 exp(-y)), 1, 1000), speeds in per mille; section 3.4 of the reference.

    An exact y must not lose a unit to rounding: what is within 1e-9 below an integer counts as it (ours).
    """
    raw = FULL_SPEED * np.exp(-np.clip(np.asarray(y, dtype=np.float64), 0.0, 50.0))  # beyond, the ends are reached
    return np.clip(np.floor(raw + 1e-9), 1, FULL_SPEED).astype(np.int64)
