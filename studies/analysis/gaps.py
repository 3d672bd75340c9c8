"""Gaps: of one schedule, with the alarm where it would be negative, and of the runs of a study at one budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from instances.fields import one_of

if TYPE_CHECKING:
    from collections.abc import Sized

    import pandas as pd


def gap_to_bound(objective: float, bound: float | None, *, method: str, instance: str) -> float | None:
    """Return (objective - bound) / bound.

    Parameters
    ----------
    objective
        Of a verified schedule, in ticks.
    bound
        The best proven one; None where nothing is proven.
    method, instance
        Names, for the message.

    Returns
    -------
    float or None
        None without a bound above 0, against which no gap is defined.

    Raises
    ------
    ValueError
        If the bound is above the objective: a negative gap is an error in this software, never a result.
    """
    if bound is None:
        return None
    if objective < bound:
        raise ValueError(
            f"gap: expected at least 0, got objective {objective:.0f} of {method} on {instance!r} below the proven "
            f"bound {bound:.0f}."
        )
    return (objective - bound) / bound if bound > 0 else None


def denominators_text(num_proven: int, instances: Sized, num_without_bound: int = 0) -> str:
    """Say in one or two sentences what gaps on some instances are measured against.

    Parameters
    ----------
    num_proven
        Of the instances, those whose optimum is proven.
    instances
        All of them.
    num_without_bound
        Of them, those without a proven bound above 0.
    """
    if num_proven == len(instances):
        proven = "optimum of the one instance is" if num_proven == 1 else f"optima of all {num_proven} instances are"
        text = f"All gaps are optimality gaps: the {proven} proven."
        return f"{text} On {num_without_bound} the optimum is 0: no gap there." if num_without_bound else text
    text = (
        f"The optimum is proven for {num_proven} of {len(instances)} instances; on the others the gap is "
        "to the best proven lower bound, and the optimality gap is at most that."
    )
    if num_without_bound:
        text += f" On {num_without_bound} no bound above 0 is proven: no gap there."
    return text


ANY_BUDGET = "-"
"""Budget of methods that need none (constructions); they are compared with all."""

NEEDED = ("instance", "label", "kind", "budget", "repetition", "objective", "bound", "is_optimum", "error")
"""Columns that a frame of runs must have."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StudyGaps:
    """Runs at one budget with their gaps.

    Parameters
    ----------
    budget
        What the searches were given; constructions, which need none, are among the runs.
    runs
        One row per run: the columns of the frame, and `reference` (the best proven bound of the instance in ticks, NaN
        where nothing is proven), `is_optimum` (whether that is the optimum), `gap` (NaN without a schedule or without
        a bound above 0), `is_failed` (the run ended in an error), `has_schedule`, `is_optimal` (it reached a proven
        optimum).
    labels
        Of the methods, in the order of the frame.
    instances
        Names, in the order of the frame.
    """

    budget: str
    runs: pd.DataFrame
    labels: tuple[str, ...]
    instances: tuple[str, ...]

    @property
    def references(self) -> pd.DataFrame:
        """Return `reference` and `is_optimum`, one row per instance."""
        return self.runs.groupby("instance", sort=False)[["reference", "is_optimum"]].first().loc[list(self.instances)]

    @property
    def num_optima(self) -> int:
        """Number of instances whose optimum is proven."""
        return int(self.references["is_optimum"].sum())

    @property
    def num_without_gap(self) -> int:
        """Number of instances on which no gap is defined: no proven bound above 0."""
        return int((~(self.references["reference"] > 0)).sum())

    @property
    def is_proven(self) -> bool:
        """Whether all gaps are optimality gaps proper."""
        return self.num_optima == len(self.instances)

    def denominators(self) -> str:
        """Say in one or two sentences what the gaps are measured against."""
        return denominators_text(self.num_optima, self.instances, self.num_without_gap)

    def mean_gaps(self) -> pd.DataFrame:
        """Return the mean gap over repetitions, one row per instance, one column per label; NaN where there is none.

        The mean objective is taken first, as an exact integer sum, so that equal means are equal numbers and ties
        stay ties. Runs without a schedule do not enter; `incomplete` tells where.
        """
        found = self.runs[self.runs["has_schedule"]]
        grouped = found.groupby(["instance", "label"], sort=False)["objective"]
        means = (grouped.sum() / grouped.count()).unstack("label")
        means = means.reindex(index=list(self.instances), columns=list(self.labels))
        reference = self.references["reference"].where(lambda bound: bound > 0)
        return means.sub(reference, axis=0).div(reference, axis=0)

    def partial(self) -> dict[str, int]:
        """Return for every label that has some the number of instances where some of its runs have a gap, not all."""
        shares = self.runs[self.runs["reference"] > 0].groupby(["label", "instance"], sort=False)["has_schedule"].mean()
        counts = ((shares > 0) & (shares < 1)).groupby("label", sort=False).sum()
        return {str(label): int(count) for label, count in counts.items() if count}

    def incomplete(self) -> dict[str, int]:
        """Return for every label that has some the number of instances without a gap although one is defined."""
        means, defined = self.mean_gaps(), (self.references["reference"] > 0).to_numpy()
        lacking = {label: int((means[label].isna().to_numpy() & defined).sum()) for label in self.labels}
        return {label: count for label, count in lacking.items() if count}


def study_gaps(frame: pd.DataFrame, budget: str | None = None) -> StudyGaps:
    """Select the runs at one budget and measure their gaps.

    Parameters
    ----------
    frame
        One row per run, with the columns `NEEDED`: objective and bound in ticks, budget `ANY_BUDGET` for
        constructions, an error text for runs that failed. Rows of kind "bound" give references only.
    budget
        Which one; may be left out where there is only one.

    Returns
    -------
    StudyGaps
        The reference of every instance is the largest proven bound over all its rows, whatever their budget.

    Raises
    ------
    ValueError
        If columns are missing, the budget is not there, a run is there twice, one name stands for two instances, or a
        proven bound exceeds an objective: a negative gap is an error in this software, never a result.
    """
    _check(frame)
    frame = frame.reset_index(drop=True)
    budget = _budget(frame, budget)
    runs = frame.assign(
        objective=_numbers(frame["objective"]),
        is_failed=frame["error"].notna() & frame["error"].ne(""),
        **_references(frame),
    )
    runs["has_schedule"] = runs["objective"].notna() & ~runs["is_failed"]
    runs["objective"] = runs["objective"].where(runs["has_schedule"])
    reached = runs[runs["has_schedule"] & (runs["objective"] == runs["reference"])]
    runs["is_optimum"] |= runs["instance"].isin(reached["instance"])
    runs["is_optimal"] = runs["has_schedule"] & runs["is_optimum"] & (runs["objective"] == runs["reference"])
    runs["gap"] = (runs["objective"] - runs["reference"]) / runs["reference"].where(runs["reference"] > 0)
    for row in runs[runs["has_schedule"] & (runs["objective"] < runs["reference"])].to_dict("records"):
        gap_to_bound(row["objective"], row["reference"], method=row["label"], instance=row["instance"])  # raises
    runs = runs[runs["budget"].isin([budget, ANY_BUDGET]) & (runs["kind"] != "bound")].reset_index(drop=True)
    if not len(runs):
        raise ValueError(f"frame: expected runs of methods at {budget}, got none.")
    return StudyGaps(
        budget=budget,
        runs=runs,
        labels=tuple(dict.fromkeys(runs["label"])),
        instances=tuple(dict.fromkeys(runs["instance"])),
    )


def budgets_of(frame: pd.DataFrame) -> list[str]:
    """Return the budgets of the methods, in the order of the frame.

    That of an exact method which only proved the references counts where there is nothing else.
    """
    methods = frame[~frame["kind"].isin(["bound", "exact"]) & (frame["budget"] != ANY_BUDGET)]
    exact = frame[(frame["kind"] == "exact") & (frame["budget"] != ANY_BUDGET)]
    return list(dict.fromkeys((methods if len(methods) else exact)["budget"]))


def _budget(frame: pd.DataFrame, budget: str | None) -> str:
    """Return the budget that is meant."""
    there = budgets_of(frame) or [ANY_BUDGET]
    if budget is None and len(there) > 1:
        raise ValueError(f"budget: expected one of {', '.join(there)}, got none.")
    if budget is not None:
        one_of(budget, there, "budget")
    return there[0] if budget is None else budget


def _check(frame: pd.DataFrame) -> None:
    """Refuse frames that would be counted wrongly."""
    missing = [column for column in NEEDED if column not in frame.columns]
    if missing:
        raise ValueError(f"frame: expected the columns {', '.join(NEEDED)}, got none named {', '.join(missing)}.")
    if not len(frame):
        raise ValueError("frame: expected at least one run, got none.")
    key = ["instance", "label", "budget", "repetition"]
    twice = frame[frame.duplicated(key)]
    if len(twice):
        shown = ", ".join(f"{column} {twice.iloc[0][column]}" for column in key)
        raise ValueError(f"frame: expected every run once, got {shown} twice.")
    if "sha256" in frame.columns:
        hashes = frame.groupby("instance", sort=False)["sha256"].nunique()
        if (hashes > 1).any():
            raise ValueError(f"instance: expected one content hash per name, got several of {hashes.idxmax()!r}.")


def _numbers(column: pd.Series) -> pd.Series:
    """Return ticks as float64, NaN where there are none; exact up to 2 ** 53."""
    import pandas as pd

    return pd.to_numeric(column).astype(np.float64)


def _references(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the best bound of the instance of every row, and whether a row calls it the optimum."""
    bound, claims = _numbers(frame["bound"]), frame["is_optimum"].eq(True).fillna(False).astype(bool)
    names = frame["instance"]
    best = bound.groupby(names, sort=False).transform("max")
    below = claims & (bound < best)
    if below.any():
        at = below.idxmax()
        raise ValueError(
            f"bound: expected at most the optimum {bound[at]:.0f} on {names[at]!r}, got {best[at]:.0f} in another row."
        )
    claims = claims & bound.notna()
    return {"reference": best, "is_optimum": claims.groupby(names, sort=False).transform("any")}
