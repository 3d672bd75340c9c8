"""What every model of y looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SpeedModel(Protocol):
    """Tells y = ln(1000 / speed) from features; a frozen dataclass of arrays, so that it can be stored."""

    def predict(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return y, at least 0, of shape (rows,), for features of shape (rows, features)."""
        ...
