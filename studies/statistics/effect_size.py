"""How consistently one of two paired methods is the better one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.statistics.signed_ranks import signed_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


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
