"""Shares of runs: within a gap, within a factor of the best method, and within a target after a while."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from studies.analysis.anytime import run_steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from studies.analysis.anytime import Axis
    from studies.analysis.gaps import StudyGaps


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


PROFILE_TARGETS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.0)
"""Gaps to the best proven bound; 0 is the optimum, on instances where it is proven."""


def target_ecdf(
    gaps: StudyGaps, traces: pd.DataFrame, axis: Axis = "evaluations", targets: Sequence[float] = PROFILE_TARGETS
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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PerformanceProfile:
    """Share of instances that each method solves within a factor of the reference.

    Parameters
    ----------
    factors
        At which at least one share rises, ascending from 1, shape (t,).
    shares
        In [0, 1], shape (t, methods); a method without a value on an instance never counts it.
    """

    factors: NDArray[np.float64]
    shares: NDArray[np.float64]

    def share(self, method: int, factor: float) -> float:
        """Return the share of a method at any factor."""
        at = int(np.searchsorted(self.factors, factor, side="right")) - 1
        return 0.0 if at < 0 else float(self.shares[at, method])

    def to_frame(self, labels: Sequence[str]) -> pd.DataFrame:
        """Return `label`, `factor`, `share`, one row per method and factor, the methods by their labels."""
        import pandas as pd

        wide = pd.DataFrame(self.shares, columns=list(labels), index=pd.Index(self.factors, name="factor"))
        tidy = wide.reset_index().melt(id_vars="factor", var_name="label", value_name="share")
        return tidy[["label", "factor", "share"]]


def performance_profile(
    values: NDArray[np.float64], reference: NDArray[np.float64] | None = None
) -> PerformanceProfile:
    """Return the profile of methods over instances.

    Parameters
    ----------
    values
        Positive, smaller is better, NaN where a method has none; shape (instances, methods).
    reference
        What the factors are relative to, positive, shape (instances,). By default the best of the methods, as
        published: such a profile changes with the methods in it. A proven bound does not (ours).

    Raises
    ------
    ValueError
        If a value is not above 0 or below its reference.

    References
    ----------
    Dolan and More (2002). Instances on which no method has a value count in the denominator, as every other one.
    """
    if values.ndim != 2 or not len(values):
        raise ValueError(f"values: expected instances in rows and methods in columns, got shape {values.shape}.")
    if (values <= 0).any():
        raise ValueError(f"values: expected numbers above 0, got {np.nanmin(values)}.")
    worst = np.where(np.isnan(values), np.inf, values)
    base = worst.min(axis=1) if reference is None else np.asarray(reference, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # no method has a value: inf / inf
        ratios = worst / base[:, None]
    ratios = np.where(np.isnan(ratios), np.inf, ratios)
    if (ratios < 1).any():
        raise ValueError(f"reference: expected at most every value, got a ratio of {ratios.min()}.")
    factors = np.unique(np.append(ratios[np.isfinite(ratios)], 1.0))
    shares = np.array([(ratios <= factor).mean(axis=0) for factor in factors])
    return PerformanceProfile(factors=factors, shares=shares)
