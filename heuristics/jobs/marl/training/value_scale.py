"""The scale of a critic's numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LEAST_DEVIATION = 1e-6
"""Where returns are all alike."""


class ValueScale(NamedTuple):
    """Values are returns less a mean, over a deviation; both in units of kappa."""

    mean: float = 0.0
    deviation: float = 1.0

    @classmethod
    def of(cls, returns: NDArray[np.float64]) -> ValueScale:
        """Return the scale on which these returns have mean 0 and deviation 1."""
        return cls(float(returns.mean()), max(float(returns.std()), _LEAST_DEVIATION))

    def values(self, returns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return returns, in units of kappa, on this scale."""
        return (returns - self.mean) / self.deviation

    def returns(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of this scale in units of kappa."""
        return self.mean + self.deviation * values
