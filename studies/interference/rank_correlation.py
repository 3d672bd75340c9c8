"""Whether predictions order rows as the truth does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.statistics.midranks import midranks

if TYPE_CHECKING:
    from numpy.typing import NDArray


def rank_correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float | None:
    """Return Spearman's correlation, ties by mean ranks; None where one side is constant, which orders nothing."""
    first, second = (midranks(values) - (len(values) + 1) / 2 for values in (one, other))
    scale = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum()) / scale if scale else None
