"""Heavy-tailed run times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tail = Literal["lognormal", "pareto"]
"""Shapes of run times."""

MAX_RATIO = 1e4
"""Run times are cut at this multiple of the median, so that one job does not decide everything."""


def run_times(
    rng: np.random.Generator, count: int, *, median_seconds: float, spread: float, tail: Tail
) -> NDArray[np.float64]:
    """Draw run times in seconds, shape (count,).

    Parameters
    ----------
    rng
        Source of run times.
    count
        How many.
    median_seconds
        Median.
    spread
        ``lognormal``: standard deviation of the natural logarithm. ``pareto``: the reciprocal of the shape, so that
        the mean of the uncut distribution is infinite from 1 on.
    tail
        Shape of the distribution.

    References
    ----------
    Run times in GPU clusters spread over orders of magnitude: Jeon et al. (2019), USENIX ATC; Hu et al. (2021), SC. The
    two shapes are ours.
    """
    if tail == "lognormal":
        factors = np.exp(spread * rng.standard_normal(count))
    else:
        factors = (2.0 * (1.0 - rng.random(count))) ** -spread  # 1 at the median
    return median_seconds * np.minimum(factors, MAX_RATIO)
