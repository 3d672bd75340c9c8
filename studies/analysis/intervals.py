"""Bootstrap intervals of medians and means, and means over instances of means over repetitions."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from studies.text import NONE, points

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
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


def mean_over_instances(runs: pd.DataFrame, column: str, *, level: float = 0.95) -> dict[str, float | None]:
    """Return the mean of a column and its percentile-bootstrap interval over instances.

    Parameters
    ----------
    runs
        Of one method; repetitions on an instance are averaged first, runs without a number are left out.

    Returns
    -------
    dict
        The mean under the name of the column, and the ends of the interval with ``_low`` and ``_high`` after it; None
        where there is nothing, and for the interval of a single instance.
    """
    values = runs[column].astype(float).groupby(runs["instance"], sort=False).mean().dropna()
    interval = bootstrap_interval(values.to_numpy(dtype=np.float64), "mean", level=level)
    low, high = (None, None) if interval is None else interval
    return {column: float(values.mean()) if len(values) else None, f"{column}_low": low, f"{column}_high": high}


def seed_means(runs: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Return the mean over instances of every repetition, shape (repetitions,); ours.

    A repetition stands for a seed, or for a value of the parameter that varies. Repetitions that lack an instance of
    another one cannot be compared and are left out.
    """
    table = runs.pivot_table(index="repetition", columns="instance", values=column, aggfunc="mean")
    means: NDArray[np.float64] = table.dropna().mean(axis=1).to_numpy(dtype=np.float64)
    return means


def seed_interval(values: Sequence[float] | NDArray[np.float64], *, level: float = 0.95) -> Interval | None:
    """Return Student's interval of a mean, for the few seeds that a learned method is trained with.

    A bootstrap of five numbers is too narrow; this one supposes that they are normally distributed. The values are one
    per seed; None for fewer than two.
    """
    data = np.asarray(values, dtype=np.float64)
    if len(data) < 2:
        return None
    from scipy.special import stdtrit

    half = float(stdtrit(len(data) - 1, (1 + level) / 2)) * float(data.std(ddof=1)) / math.sqrt(len(data))
    return Interval(float(data.mean()) - half, float(data.mean()) + half)


def interval_text(interval: Interval | None) -> str:
    """Return an interval of differences in percentage points."""
    return NONE if interval is None else f"[{points(interval.low)}, {points(interval.high)}]"
