"""Every method tested against every other one."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from studies.statistics.effect_size import rank_biserial
from studies.statistics.holm import holm
from studies.statistics.wilcoxon import wilcoxon

if TYPE_CHECKING:
    import pandas as pd

    from studies.statistics.study_gaps import StudyGaps

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
    label
        Of the method.

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
