"""The share of runs whose gap is at most a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from studies.statistics.study_gaps import StudyGaps


def gap_ecdf(gaps: StudyGaps) -> pd.DataFrame:
    """Return the empirical distribution of the gaps of every method, over all its runs.

    Parameters
    ----------
    gaps
        Runs at one budget. A run that failed or has no schedule never comes within any gap, yet counts; runs on
        instances without a bound above 0 do not.

    Returns
    -------
    DataFrame
        `label`, `gap`, `share`: a row at every gap at which the share rises, ascending; a method without any gap has a
        single row at an infinite gap and share 0.
    """
    import pandas as pd

    runs = gaps.runs[gaps.runs["reference"] > 0]
    parts = []
    for label in gaps.labels:
        of_label = runs.loc[runs["label"] == label, "gap"]
        found, counts = np.unique(of_label.dropna().to_numpy(np.float64), return_counts=True)
        share = np.cumsum(counts) / len(of_label) if len(found) else np.zeros(1)
        parts.append(pd.DataFrame({"label": label, "gap": found if len(found) else [np.inf], "share": share}))
    return pd.concat(parts, ignore_index=True)
