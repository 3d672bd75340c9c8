"""The two-sided signed-rank test of Wilcoxon with zeros by Pratt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from studies.statistics.signed_ranks import signed_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

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
