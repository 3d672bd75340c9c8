"""Gaps of every method within groups of instances: mean, median, quantiles, worst, and the shares that are proven."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from studies.analysis.gaps import StudyGaps


QUANTILES = {"lower_quartile": 0.25, "median_gap": 0.5, "upper_quartile": 0.75, "high_gap": 0.9}
"""Column to share of the runs that are at most that; interpolated linearly."""

STATISTICS = (
    "num_instances",
    "num_proven",
    "num_runs",
    "num_failed",
    "num_without_schedule",
    "num_optimal",
    "share_optimal",
    "mean_gap",
    *QUANTILES,
    "worst_gap",
    "mean_seconds",
)
"""Columns of `gap_statistics` after those of the groups and the label."""

SIZE = "size"
"""Stands for the column that says how large an instance is: `tasks`, or `jobs` where there are any."""


def gap_statistics(gaps: StudyGaps, by: Sequence[str] = ()) -> pd.DataFrame:
    """Return the gaps of every method, in all or within every combination of values of some columns.

    Parameters
    ----------
    gaps
        Runs at one budget.
    by
        Columns of the runs, such as ``family``, ``tasks`` or ``ccr``; `SIZE` is one of them in every study.

    Returns
    -------
    DataFrame
        One row per group and label: the columns of the groups, `label`, `kind`, and `STATISTICS`: the number of
        instances, and of those whose optimum is proven; runs, those that failed and those that ended well without a
        schedule; runs that reach a proven optimum, and their share of the runs where one is proven (failed ones
        included); mean, quantiles and worst of the gaps over the runs that have one; seconds of the runs that did not
        fail. Fractions; NaN where there is nothing.

    Raises
    ------
    ValueError
        If there is no such column.
    """
    runs = gaps.runs
    columns = [grouping_column(runs, name) for name in by]
    keys = [*columns, "label"]
    seconds = runs["seconds"].where(~runs["is_failed"]) if "seconds" in runs.columns else np.nan
    marked = runs.assign(
        seconds=seconds,
        is_lost=~runs["has_schedule"] & ~runs["is_failed"],
        proven_instance=runs["instance"].where(runs["is_optimum"]),
    )
    grouped = marked.groupby(keys, sort=False, dropna=False)
    table = grouped.agg(
        kind=("kind", "first"),
        num_instances=("instance", "nunique"),
        num_proven=("proven_instance", "nunique"),
        num_runs=("instance", "size"),
        num_failed=("is_failed", "sum"),
        num_without_schedule=("is_lost", "sum"),
        num_optimal=("is_optimal", "sum"),
        num_with_known_optimum=("is_optimum", "sum"),
        mean_gap=("gap", "mean"),
        worst_gap=("gap", "max"),
        mean_seconds=("seconds", "mean"),
    )
    found = grouped["gap"].quantile(list(QUANTILES.values())).unstack()
    for name, share in QUANTILES.items():
        table[name] = found[share]
    table["share_optimal"] = table["num_optimal"] / table.pop("num_with_known_optimum").where(lambda count: count > 0)
    if columns:  # groups ascending, labels in the order of the runs
        order = {label: place for place, label in enumerate(gaps.labels)}
        table = table.sort_index(
            level=keys, key=lambda level: level.map(order) if level.name == "label" else level, kind="stable"
        )
    return table.reset_index()[[*keys, "kind", *STATISTICS]]


def grouping_column(frame: pd.DataFrame, name: str) -> str:
    """Return the column that is meant by a name; raises a `ValueError` if there is none."""
    if name == SIZE and SIZE not in frame.columns:
        for column in ("tasks", "jobs"):
            if column in frame.columns and frame[column].notna().any():
                return column
    if name not in frame.columns:
        hint = did_you_mean(name, frame.columns)
        raise ValueError(f"by: expected {SIZE} or one of {', '.join(frame.columns)}, got {name!r}{hint}.")
    return name


KEY = ["instance", "label", "budget"]


def cell_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per instance, label and budget, in the order of the frame.

    Parameters
    ----------
    frame
        One row per run, as `studies.analysis.frames.to_frame` returns it.

    Returns
    -------
    DataFrame
        `KEY`; `num_runs`, and of these `num_failed`, `num_without_schedule` (they ended well) and `num_optimal`; best,
        median and worst objective (`best`, `median`, `worst`), `mean_gap` and `mean_seconds`, each over the runs that
        have one, NaN where none has.
    """
    status = frame["status"]
    marked = frame.assign(
        is_failed=status.eq("failed"),
        is_without_schedule=frame["objective"].isna() & status.ne("failed"),
        is_optimal=status.eq("optimal"),
    )
    return (
        marked.groupby(KEY, sort=False)
        .agg(
            num_runs=("status", "size"),
            num_failed=("is_failed", "sum"),
            num_without_schedule=("is_without_schedule", "sum"),
            num_optimal=("is_optimal", "sum"),
            best=("objective", "min"),
            median=("objective", "median"),
            worst=("objective", "max"),
            mean_gap=("gap", "mean"),
            mean_seconds=("seconds", "mean"),
        )
        .reset_index()
    )
