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
"""Level of significance of the critical difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FriedmanTest:
    """Statistic (chi squared, corrected for ties) and p-value of the hypothesis that all methods rank alike."""

    statistic: float
    p_value: float


def average_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean rank of every method; 1 is best, ties share the mean of their ranks.

    Parameters
    ----------
    values
        Smaller is better, shape (instances, methods), without NaN: rank what all methods have.

    Raises
    ------
    ValueError
        If a value is missing or there is no instance.
    """
    _check(values)
    means: NDArray[np.float64] = midranks(values).mean(axis=0)
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

    References
    ----------
    Friedman (1937), as in Demsar (2006), corrected for ties as in SciPy (Demsar's numbers are not).
    """
    from scipy.special import chdtrc

    _check(values)
    count, methods = values.shape
    if count < 2 or methods < 3:
        return None
    ranks = midranks(values)
    middle = (methods + 1) / 2
    spread = float(((ranks - middle) ** 2).sum())
    if spread == 0:
        return FriedmanTest(statistic=0.0, p_value=1.0)
    statistic = (methods - 1) * count**2 * float(((ranks.mean(axis=0) - middle) ** 2).sum()) / spread
    return FriedmanTest(statistic=statistic, p_value=float(chdtrc(methods - 1, statistic)))


@lru_cache(maxsize=64)
def critical_difference(num_methods: int, num_instances: int, level: float = LEVEL) -> float:
    """Return how far two average ranks must lie apart to be significantly different.

    Parameters
    ----------
    num_methods
        At least 2.
    num_instances
        At least 1.
    level
        Of significance.

    References
    ----------
    Nemenyi (1963), as in Demsar (2006), section 3.2.2: q sqrt(k (k + 1) / (6 N)), q being the studentized range
    of k means with infinitely many degrees of freedom, divided by sqrt(2).
    """
    if num_methods < 2 or num_instances < 1:
        got = f"{num_methods} and {num_instances}"
        raise ValueError(f"critical difference: expected two methods and an instance at least, got {got}.")
    q = _studentized_range(num_methods, level) / math.sqrt(2)
    return q * math.sqrt(num_methods * (num_methods + 1) / (6 * num_instances))


def _studentized_range(count: int, level: float) -> float:
    """Return what the range of some standard normal numbers exceeds with the probability `level`.

    By bisection of 1 - k * integral of phi(z) (Phi(z) - Phi(z - q)) ** (k - 1), with 4,000 trapezia from -9 to 9:
    ten digits.
    """
    from scipy.special import ndtr

    z = np.linspace(-9.0, 9.0, 4001)
    density, below = np.exp(-z * z / 2) / math.sqrt(2 * math.pi), ndtr(z)
    low, high = 0.0, 20.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        inside = count * float((density * (below - ndtr(z - middle)) ** (count - 1)).sum()) * (z[1] - z[0])
        low, high = (middle, high) if 1 - inside > level else (low, middle)
    return high


def indistinct_groups(ranks: Sequence[float] | NDArray[np.float64], difference: float) -> list[list[int]]:
    """Return the largest groups of methods whose ranks all lie within the critical difference.

    Returns
    -------
    list of list of int
        Groups of at least two indices into `ranks`, from the best rank on, each by rank; none is part of another.
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
    """Refuse what cannot be ranked."""
    if values.ndim != 2 or not len(values) or not values.shape[1]:
        raise ValueError(f"values: expected instances in rows and methods in columns, got shape {values.shape}.")
    if np.isnan(values).any():
        raise ValueError("values: expected a number for every instance and method, got NaN.")


def midranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of every value within its row, from 1; ties share the mean of their ranks.

    The same as ``scipy.stats.rankdata``, without the half second that importing it takes.

    Parameters
    ----------
    values
        Shape (..., n), without NaN.
    """
    rows = np.asarray(values, dtype=np.float64)
    if not rows.size:
        return np.zeros(rows.shape)
    order = np.argsort(rows, axis=-1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=-1)
    place = np.broadcast_to(np.arange(rows.shape[-1]), rows.shape)
    is_new = np.ones(rows.shape, dtype=bool)  # the first one of its ties
    is_new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    is_last = np.ones(rows.shape, dtype=bool)
    is_last[..., :-1] = is_new[..., 1:]
    first = np.maximum.accumulate(np.where(is_new, place, 0), axis=-1)
    last = np.minimum.accumulate(np.where(is_last, place, rows.shape[-1])[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(rows.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=-1)
    return ranks
