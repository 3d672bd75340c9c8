"""Means over instances of means over repetitions, with intervals over either."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from studies.statistics.bootstrap import Interval, bootstrap_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray


def mean_over_instances(runs: pd.DataFrame, column: str, *, level: float = 0.95) -> dict[str, float | None]:
    """Return the mean of a column and its percentile-bootstrap interval over instances.

    Parameters
    ----------
    runs
        Of one method; repetitions on an instance are averaged first, runs without a number are left out.
    column
        Name of it.
    level
        Of confidence.

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

    A bootstrap of five numbers is too narrow; this one supposes that they are normally distributed.

    Parameters
    ----------
    values
        One per seed.
    level
        Of confidence.

    Returns
    -------
    Interval or None
        None for fewer than two values.
    """
    data = np.asarray(values, dtype=np.float64)
    if len(data) < 2:
        return None
    from scipy.special import stdtrit

    half = float(stdtrit(len(data) - 1, (1 + level) / 2)) * float(data.std(ddof=1)) / math.sqrt(len(data))
    return Interval(float(data.mean()) - half, float(data.mean()) + half)
