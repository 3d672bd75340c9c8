"""Pairwise tests of methods: Wilcoxon's signed-rank test, effect size and Holm's correction."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from studies.analysis.gaps import StudyGaps


EXACT_UP_TO = 50
"""Pairs up to which the distribution is enumerated; beyond, the normal approximation is accurate to three digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WilcoxonTest:
    """What the test says.

    Parameters
    ----------
    statistic
        The smaller one of the rank sums of positive and of negative differences.
    p_value
        Two-sided; 1 where all differences are 0.
    num_pairs, num_zeros
        Differences in all, and those that are 0.
    """

    statistic: float
    p_value: float
    num_pairs: int
    num_zeros: int

    @property
    def least_p_value(self) -> float:
        """Smallest p-value that so many differences other than 0 can give: 2 / 2 ** n."""
        return float(min(1.0, 2.0 ** (1 - (self.num_pairs - self.num_zeros))))


def wilcoxon(differences: Sequence[float] | NDArray[np.float64]) -> WilcoxonTest | None:
    """Test whether paired differences lie symmetrically about 0.

    Parameters
    ----------
    differences
        One per pair (here: per instance, the difference of two means over repetitions). Numbers that are equal to 12
        decimals are tied: gaps are ratios, and rounding shall not break ties.

    Returns
    -------
    WilcoxonTest or None
        None without any pair.

    References
    ----------
    Wilcoxon (1945); Pratt (1959): zeros are ranked with the others, then left out of the sums. Up to `EXACT_UP_TO`
    pairs the p-value is exact given the ranks, ties and zeros included (SciPy's exact distribution knows neither);
    beyond, the normal approximation with the variance of these ranks, which corrects for both, as SciPy's does.
    """
    ranks = signed_ranks(differences)
    if not len(ranks):
        return None
    above, below = float(ranks[ranks > 0].sum()), float(-ranks[ranks < 0].sum())
    num_zeros = int((ranks == 0).sum())
    if num_zeros == len(ranks):
        p_value = 1.0
    elif len(ranks) <= EXACT_UP_TO:
        p_value = _exact(np.abs(ranks[ranks != 0]), min(above, below))
    else:
        p_value = _approximate(np.abs(ranks[ranks != 0]), min(above, below))
    return WilcoxonTest(
        statistic=min(above, below), p_value=min(1.0, p_value), num_pairs=len(ranks), num_zeros=num_zeros
    )


def _exact(ranks: NDArray[np.float64], smaller: float) -> float:
    """Return the share of the 2 ** n equally likely signs whose smaller rank sum is at most `smaller`, both sides."""
    doubled = np.rint(2 * ranks).astype(np.int64)  # ranks of ties end in .5
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled:
        with_rank = ways.copy()
        with_rank[rank:] += ways[: len(ways) - rank]
        ways = with_rank / 2
    return 2 * float(ways[: round(2 * smaller) + 1].sum())


def _approximate(ranks: NDArray[np.float64], smaller: float) -> float:
    """Return the two-sided p-value of the normal distribution with mean and variance of the sum of one side."""
    from scipy.special import ndtr

    deviation = float(np.sqrt((ranks**2).sum())) / 2
    return 2 * float(ndtr((smaller - ranks.sum() / 2) / deviation))


DECIMALS = 12
"""Differences that agree up to here are ties: they are ratios of integers, computed in floating point."""


def signed_ranks(differences: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of every absolute difference, ties averaged, with its sign; 0 for a difference of 0.

    Zeros take part in the ranking and so hold the lowest ranks (Pratt 1959), which then count for neither side. The
    differences have shape (n,). Raises a `ValueError` if one of them is not finite.
    """
    from scipy.stats import rankdata

    values = np.round(np.asarray(differences, dtype=np.float64), DECIMALS)
    if not np.isfinite(values).all():
        raise ValueError(f"differences: expected finite numbers, got {values[~np.isfinite(values)][0]}.")
    ranks: NDArray[np.float64] = np.sign(values) * rankdata(np.abs(values))
    return ranks


def rank_biserial(differences: Sequence[float] | NDArray[np.float64]) -> float | None:
    """Return the matched-pairs rank-biserial correlation, in [-1, 1].

    Parameters
    ----------
    differences
        One per pair, as for the Wilcoxon test.

    Returns
    -------
    float or None
        (R+ - R-) / (R+ + R-) with the rank sums of positive and negative differences: 1 where all are positive, 0 where
        both sides weigh the same or all differences are 0; None without any pair.

    References
    ----------
    Kerby (2014), the simple difference formula; zeros are ranked and then left out, as in the test (Pratt).
    """
    ranks = signed_ranks(differences)
    if not len(ranks):
        return None
    above, below = float(ranks[ranks > 0].sum()), float(-ranks[ranks < 0].sum())
    return 0.0 if above + below == 0 else (above - below) / (above + below)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values adjusted for the number of tests, in the same order.

    Reject where the adjusted value is at most the level: the chance of any wrong rejection is then at most the level,
    whatever the dependence between the tests.

    Parameters
    ----------
    p_values
        One per test, in [0, 1]; None for a test that could not be made, which does not count and stays None.

    Raises
    ------
    ValueError
        If a value is outside [0, 1].

    References
    ----------
    Holm (1979): the i-th smallest of k is multiplied by k - i + 1, and none may be below the one before it.
    """
    for p_value in p_values:
        if p_value is not None and not 0 <= p_value <= 1:
            raise ValueError(f"p_values: expected numbers in [0, 1], got {p_value}.")
    made = sorted((p_value, index) for index, p_value in enumerate(p_values) if p_value is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for position, (p_value, index) in enumerate(made):
        largest = max(largest, min(1.0, (len(made) - position) * p_value))
        adjusted[index] = largest
    return adjusted


COLUMNS = ("label", "other", "num_pairs", "median_difference", "p_value", "holm_p_value", "effect")
"""Columns of `all_pairs`."""


def all_pairs(gaps: StudyGaps) -> pd.DataFrame:
    """Test every pair of methods, and correct for all of them.

    A method that is singled out by its results (the best one) was compared with all others by that choice, so that a
    correction for its own rivals alone would be too small; one over all pairs holds for any pair, however chosen.

    Parameters
    ----------
    gaps
        Runs at one budget.

    Returns
    -------
    DataFrame
        `COLUMNS`, one row per pair in the order of the labels: over the instances where both have a mean gap, the
        median of the gap of `label` less that of `other`, the two-sided Wilcoxon signed-rank test, its p-value after
        Holm's correction over all pairs, and the rank-biserial correlation, above 0 where `other` is better. NaN where
        a pair has no common instance.
    """
    import pandas as pd

    means, rows, p_values = gaps.mean_gaps(), [], []
    for label, other in combinations(gaps.labels, 2):
        differences = (means[label] - means[other]).dropna().to_numpy()
        test = wilcoxon(differences)
        p_values.append(None if test is None else test.p_value)
        median = float(np.median(differences)) if len(differences) else None
        rows.append([label, other, len(differences), median, p_values[-1], None, rank_biserial(differences)])
    for row, adjusted in zip(rows, holm(p_values), strict=True):
        row[COLUMNS.index("holm_p_value")] = adjusted
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    numbers = ["median_difference", "p_value", "holm_p_value", "effect"]
    return frame.astype(dict.fromkeys(numbers, np.float64))


def against(pairs: pd.DataFrame, label: str) -> pd.DataFrame:
    """Return the tests of one method, seen from it.

    Parameters
    ----------
    pairs
        As `all_pairs` returns them.

    Returns
    -------
    DataFrame
        The columns of `COLUMNS` without `label`, indexed by `other`: `median_difference` is the gap of `other` less
        that of the method, `effect` above 0 where the method is better.
    """
    mine = pairs[(pairs["label"] == label) | (pairs["other"] == label)].copy()
    is_first = mine["label"] == label
    mine["other"] = mine["other"].where(is_first, mine["label"])
    mine["median_difference"] = mine["median_difference"].where(~is_first, -mine["median_difference"])
    mine["effect"] = mine["effect"].where(~is_first, -mine["effect"])
    return mine.drop(columns="label").set_index("other")
