"""Percentile bootstrap interval of a median or a mean."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

RESAMPLES = 9999
"""Draws with replacement; one less than a round number puts the percentiles between draws."""

BATCH = 1000
"""Draws that are made at once."""


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
    Efron (1979). The numbers are those of SciPy's percentile bootstrap with the same generator; for the median of the
    values in ascending order, so that the interval does not depend on the order of the instances.
    """
    data = np.asarray(values, dtype=np.float64)
    if len(data) < 2:
        return None
    if (data == data[0]).all():
        return Interval(float(data[0]), float(data[0]))
    if statistic == "median":
        low, high = _drawn_middles(len(data), seed)
        ordered = np.sort(data)
        # As numpy.median does, so that a draw of equal values gives exactly that value.
        found = np.where(low == high, ordered[low], (ordered[low] + ordered[high]) / 2)
    else:
        found = np.concatenate([data[draw].mean(axis=1) for draw in _draws(len(data), seed)])
    ends = np.percentile(found, [100 * (1 - level) / 2, 100 * (1 + level) / 2])
    return Interval(float(ends[0]), float(ends[1]))


def _draws(count: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the positions drawn, shape (some, count), `RESAMPLES` rows in all."""
    rng = np.random.default_rng(seed)
    for first in range(0, RESAMPLES, BATCH):
        yield rng.integers(0, count, size=(min(BATCH, RESAMPLES - first), count))


@lru_cache(maxsize=8)
def _drawn_middles(count: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for every draw the two positions in the middle of it.

    The median of a draw is the value there, values ascending: many comparisons over as many instances share the draws.
    """
    middle = ((count - 1) // 2, count // 2)
    rows = [np.partition(draw, sorted(set(middle)), axis=1)[:, middle] for draw in _draws(count, seed)]
    found = np.concatenate(rows)
    found.flags.writeable = False
    return found[:, 0], found[:, 1]
