"""Average ranks over instances, the Friedman test, and Nemenyi's critical difference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


LEVEL = 0.05
"""Level of significance of the tests and of the critical difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FriedmanTest:
    """Chi-squared statistic, corrected for ties, and p-value of the hypothesis that all methods rank alike."""

    statistic: float
    p_value: float


def average_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean rank of every method; 1 is best, ties share the mean of their ranks.

    `values` have a row per instance and a column per method, smaller is better. Raises a `ValueError` if one is missing
    or there is no instance.
    """
    from scipy.stats import rankdata

    _check(values)
    means: NDArray[np.float64] = rankdata(values, axis=1).mean(axis=0)
    return means


def friedman(values: NDArray[np.float64]) -> FriedmanTest | None:
    """Test whether methods differ at all.

    Parameters
    ----------
    values
        As for `average_ranks`.

    Returns
    -------
    FriedmanTest or None
        None for fewer than three methods or two instances, where the test says nothing.

    Raises
    ------
    ValueError
        As `average_ranks`.

    References
    ----------
    Friedman (1937), as in Demsar (2006), but corrected for ties.
    """
    from scipy.stats import friedmanchisquare

    _check(values)
    count, methods = values.shape
    if count < 2 or methods < 3:
        return None
    if (values == values[:, :1]).all():  # SciPy divides 0 by 0
        return FriedmanTest(statistic=0.0, p_value=1.0)
    found = friedmanchisquare(*values.T)
    return FriedmanTest(statistic=float(found.statistic), p_value=float(found.pvalue))


@lru_cache(maxsize=64)
def critical_difference(num_methods: int, num_instances: int, level: float = LEVEL) -> float:
    """Return how far apart two average ranks must be to differ significantly at a level of significance.

    Raises
    ------
    ValueError
        If there are fewer than two methods, or no instance.

    References
    ----------
    Nemenyi (1963), as in Demsar (2006), section 3.2.2: q sqrt(k (k + 1) / (6 N)), where q is the quantile of the
    studentized range of k means with infinitely many degrees of freedom, divided by sqrt(2).
    """
    from scipy.stats import studentized_range

    if num_methods < 2 or num_instances < 1:
        got = f"{num_methods} and {num_instances}"
        raise ValueError(f"critical difference: expected at least two methods and an instance, got {got}.")
    q = float(studentized_range.ppf(1 - level, num_methods, np.inf)) / math.sqrt(2)
    return q * math.sqrt(num_methods * (num_methods + 1) / (6 * num_instances))


def indistinct_groups(ranks: Sequence[float] | NDArray[np.float64], difference: float) -> list[list[int]]:
    """Return the largest groups of methods whose ranks all lie within the critical difference.

    Each group lists at least two indices into `ranks`, best rank first, and no group is part of another.
    """
    order = sorted(range(len(ranks)), key=lambda method: (ranks[method], method))
    groups: list[list[int]] = []
    last = 0
    for first in range(len(order)):
        end = first
        while end + 1 < len(order) and ranks[order[end + 1]] - ranks[order[first]] <= difference:
            end += 1
        if end > first and (not groups or end > last):
            groups.append(order[first : end + 1])
            last = end
    return groups


def _check(values: NDArray[np.float64]) -> None:
    """Raise where a table of values cannot be ranked."""
    if values.ndim != 2 or not len(values) or not values.shape[1]:
        raise ValueError(f"values: expected instances in rows and methods in columns, got shape {values.shape}.")
    if np.isnan(values).any():
        raise ValueError("values: expected a number for every instance and method, got NaN.")
