"""The share of pairs of run and target that are reached within evaluations or seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.statistics.run_steps import run_steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from studies.statistics.run_steps import Axis
    from studies.statistics.study_gaps import StudyGaps

PROFILE_TARGETS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.0)
"""Gaps to the best proven bound; 0 is the optimum, on instances where it is proven."""


def target_ecdf(
    gaps: StudyGaps,
    traces: pd.DataFrame,
    axis: Axis = "evaluations",
    targets: Sequence[float] = PROFILE_TARGETS,
) -> pd.DataFrame:
    """Return the empirical distribution of the times at which runs reach targets, as in COCO's data profiles.

    Parameters
    ----------
    gaps, traces, axis
        As for `anytime_curves`: runs of searches at one budget.
    targets
        Gaps; 0 counts only where the optimum is proven.

    Returns
    -------
    DataFrame
        `label`, `at`, `share`: a row wherever the share of a method rises, ascending; a method that reaches nothing has
        a single row at infinity and share 0.

    References
    ----------
    Hansen, Auger, Ros, Mersmann, Tusar and Brockhoff (2021), COCO, section 5.3; More and Wild (2009). Deviations:
    targets are gaps to a proven bound, not precisions below the best known value; times are those of the runs, neither
    divided by a dimension nor prolonged by simulated restarts, so that a line ends at the share that was reached.
    """
    import pandas as pd

    steps = run_steps(gaps, traces, axis)
    is_proven, labels = steps.runs["is_optimum"].to_numpy(bool), steps.runs["label"].to_numpy()
    times, of_pair = [], []
    for target in targets:
        counted = is_proven if target == 0 else np.ones(len(is_proven), dtype=bool)
        times.append(steps.times_to(np.full(len(steps.runs), float(target)))[counted])
        of_pair.append(labels[counted])
    pairs = pd.DataFrame({"label": np.concatenate(of_pair), "at": np.concatenate(times)}) if targets else None
    parts = [pd.DataFrame(columns=["label", "at", "share"])]
    for label, group in [] if pairs is None else pairs.groupby("label", sort=False)["at"]:
        at, counts = np.unique(group.to_numpy(np.float64), return_counts=True)
        reached = np.isfinite(at)
        share = np.cumsum(counts[reached]) / len(group) if reached.any() else np.zeros(1)
        parts.append(pd.DataFrame({"label": label, "at": at[reached] if reached.any() else [np.inf], "share": share}))
    return pd.concat(parts[1:] or parts, ignore_index=True)
