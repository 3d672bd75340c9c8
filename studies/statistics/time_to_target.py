"""When runs first come within a given gap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.statistics.run_steps import run_steps

if TYPE_CHECKING:
    import pandas as pd

    from studies.statistics.run_steps import Axis
    from studies.statistics.study_gaps import StudyGaps


def time_to_target(
    gaps: StudyGaps, traces: pd.DataFrame, target: float, axis: Axis = "evaluations", *, constructions: bool = False
) -> pd.DataFrame:
    """Return when every search run first had a schedule whose gap is at most the target.

    Parameters
    ----------
    gaps, traces, axis, constructions
        As for `run_steps`.
    target
        A gap, at least 0; 0 asks for the optimum (or the bound, where that is all there is).

    Returns
    -------
    DataFrame
        One row per run: `label`, `instance`, `repetition`, `at` (infinite where it never came so far), `spent` (of the
        whole run, NaN where that is not known), `is_optimum` (whether the optimum of the instance is proven). A run
        that misses the target is a run: a median over runs is infinite where more than half of them miss it.

    Raises
    ------
    ValueError
        If the target is negative.
    """
    if not target >= 0:
        raise ValueError(f"target: expected a gap of at least 0, got {target}.")
    steps = run_steps(gaps, traces, axis, constructions=constructions)
    times = steps.times_to(np.full(len(steps.runs), float(target)))
    found = steps.runs.assign(at=times)
    return found[["label", "instance", "repetition", "at", "spent", "is_optimum"]]


def target_summary(times: pd.DataFrame) -> pd.DataFrame:
    """Return one row per label of what `time_to_target` found.

    Returns
    -------
    DataFrame
        `label`, `num_runs`, `num_reached`, `share` that reach the target, `median` time over all runs (infinite where
        more than half miss it), and the `expected` time: what all runs spent until they reached the target or ended,
        over the number that reached it. NaN where none did, or a run that missed it does not say what it spent.

    References
    ----------
    Hansen, Auger, Ros, Mersmann, Tusar and Brockhoff (2021), COCO, section 5.1: the expected running time of restarts
    until the first success, estimated from runs with and without.
    """
    import pandas as pd

    rows = []
    for label, group in times.groupby("label", sort=False):
        at, spent = group["at"].to_numpy(np.float64), group["spent"].to_numpy(np.float64)
        reached = np.isfinite(at)
        total = float(np.where(reached, at, spent).sum())
        rows.append(
            {
                "label": label,
                "num_runs": len(at),
                "num_reached": int(reached.sum()),
                "share": float(reached.mean()),
                "median": float(np.median(at)),
                "expected": total / int(reached.sum()) if reached.any() else np.nan,
            }
        )
    return pd.DataFrame(rows, columns=["label", "num_runs", "num_reached", "share", "median", "expected"])
