"""When runs first come within a given gap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.statistics.anytime import steps

if TYPE_CHECKING:
    import pandas as pd

    from studies.statistics.anytime import Axis
    from studies.statistics.study_gaps import StudyGaps


def time_to_target(gaps: StudyGaps, traces: pd.DataFrame, target: float, axis: Axis = "evaluations") -> pd.DataFrame:
    """Return when every search run first had a schedule whose gap is at most the target.

    Parameters
    ----------
    gaps, traces, axis
        As for `anytime_curves`.
    target
        A gap, at least 0; 0 asks for the optimum (or the bound, where that is all there is).

    Returns
    -------
    DataFrame
        One row per run: `label`, `instance`, `at` (infinite where it never came so far): a run that misses the target
        is a run, and a median over runs is infinite where more than half of them miss it.

    Raises
    ------
    ValueError
        If the target is negative.
    """
    import pandas as pd

    if not target >= 0:
        raise ValueError(f"target: expected a gap of at least 0, got {target}.")
    rows = []
    for label, instance, at, gap in steps(gaps, traces, axis):
        reached = np.flatnonzero(gap <= target + 1e-12)
        rows.append({"label": label, "instance": instance, "at": float(at[reached[0]]) if len(reached) else np.inf})
    return pd.DataFrame(rows, columns=["label", "instance", "at"])


def target_summary(times: pd.DataFrame) -> pd.DataFrame:
    """Return per label the number of runs, the share that reach the target, and the median time over all runs."""
    grouped = times.groupby("label", sort=False)["at"]
    return grouped.agg(
        num_runs="count", share=lambda at: float(np.isfinite(at).mean()), median=lambda at: float(np.median(at))
    ).reset_index()
