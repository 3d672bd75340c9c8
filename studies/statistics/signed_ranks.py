"""Ranks of absolute differences with the sign of the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.statistics.midranks import midranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DECIMALS = 12
"""Differences that agree up to here are ties: they are ratios of integers, computed in floating point."""


def signed_ranks(differences: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of every absolute difference, ties averaged, with its sign; 0 for a difference of 0.

    Zeros take part in the ranking and so hold the lowest ranks (Pratt 1959), which then count for neither side.

    Parameters
    ----------
    differences
        Any finite numbers, shape (n,).

    Raises
    ------
    ValueError
        If a difference is not finite.
    """
    values = np.round(np.asarray(differences, dtype=np.float64), DECIMALS)
    if not np.isfinite(values).all():
        raise ValueError(f"differences: expected finite numbers, got {values[~np.isfinite(values)][0]}.")
    ranks: NDArray[np.float64] = np.sign(values) * midranks(np.abs(values))
    return ranks
