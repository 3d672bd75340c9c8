"""Percentile bootstrap interval of a median or a mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RESAMPLES = 9999
"""Draws with replacement; one less than a round number puts the percentiles between draws."""


class Interval(NamedTuple):
    """An interval of confidence."""

    low: float
    high: float


def bootstrap_interval(
    values: Sequence[float] | NDArray[np.float64],
    statistic: Literal["median", "mean"] = "median",
    *,
    level: float = 0.95,
    seed: int = 0,
) -> Interval | None:
    """Return the percentile bootstrap interval of the median or the mean.

    Parameters
    ----------
    values
        One per instance: the instances are what is drawn.
    statistic
        Of what.
    level
        Of confidence.
    seed
        Same values, same seed: same interval.

    Returns
    -------
    Interval or None
        None for fewer than two values: one instance says nothing of others.

    References
    ----------
    Efron (1979); SciPy does the resampling.
    """
    from scipy.stats import bootstrap

    data = np.asarray(values, dtype=np.float64)
    if len(data) < 2:
        return None
    if (data == data[0]).all():
        return Interval(float(data[0]), float(data[0]))
    found = bootstrap(
        (data,),
        {"median": np.median, "mean": np.mean}[statistic],
        n_resamples=RESAMPLES,
        confidence_level=level,
        method="percentile",
        batch=1000,
        random_state=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(float(found.low), float(found.high))
