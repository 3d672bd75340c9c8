"""The sources of bounds side by side: how near each comes to the best proven bound and to the optimum."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from solvers.table import Column, Table, Tabular
from studies.analysis.anytime import run_steps
from studies.analysis.bound_ratios import bound_summary
from studies.analysis.comparison import compare_methods
from studies.analysis.gap_statistics import grouping_column
from studies.analysis.gaps import study_gaps
from studies.analysis.grouped_comparison import grouped_comparison
from studies.analysis.online_summary import jct_test_table
from studies.analysis.profiles import target_summary
from studies.analysis.reductions import reductions
from studies.analysis.stability import deterministic_labels
from studies.report.jobs_tables import interference_tables, jct_tables
from studies.text import NONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from studies.analysis.anytime import Axis
    from studies.analysis.gaps import StudyGaps


def bound_table(ratios: pd.DataFrame, by: Sequence[str] = ()) -> Table:
    """Return the table of the bounds of a study.

    Parameters
    ----------
    ratios
        As `bound_ratios` returns them, with the columns of the groups.
    by
        Columns within whose values the sources are compared one by one, such as ``family`` or ``size``.

    Raises
    ------
    ValueError
        If there is no such column.
    """
    groups = [grouping_column(ratios, name) for name in by]
    summary = bound_summary(ratios, groups)
    if groups:
        summary = summary.sort_values(groups, kind="stable", ignore_index=True)
    columns = (
        *(Column(name, name) for name in groups),
        Column("bound", lambda row: row["label"] if row["budget"] == NONE else f"{row['label']}, {row['budget']}"),
        Column("runs", "num_runs", is_number=True),
        Column("mean", "mean_ratio", _ratio, is_number=True),
        Column("least", "least_ratio", _ratio, is_number=True),
        Column("best", lambda row: f"{row['num_best']}/{row['num_bounds']}", is_number=True),
        Column("mean*", "mean_optimum_ratio", _ratio, is_number=True),
        Column("least*", "least_optimum_ratio", _ratio, is_number=True),
        Column("opt*", lambda row: f"{row['num_optima']}/{row['num_known_optima']}", is_number=True),
        Column("mean s", "mean_seconds", _seconds, is_number=True),
    )
    proven = ratios.loc[ratios["is_optimum"], "sha256"].nunique()
    note = (
        f"Over {ratios['sha256'].nunique()} instances. mean, least: bound over the best proven bound of the instance, "
        f"rounded down; best: on how many it is the best one. *: the same on the {proven} instances with a proven "
        "optimum, where the best bound is that optimum."
    )
    records = summary.to_dict("records")
    return Table.of(
        columns,
        records,
        name="bounds",
        title="Ratio of lower bounds to the best proven bound" + (f" by {', '.join(groups)}" if groups else ""),
        notes=[note],
        records=records,
        fields=list(summary.columns),
    )


def _ratio(value: float) -> str:
    """Return a ratio rounded down, so that only a bound that always is the best one shows 1.000."""
    return NONE if math.isnan(value) else f"{int(value * 1000 + 1e-9) / 1000:.3f}"


def _seconds(value: float) -> str:
    """Return seconds with three digits."""
    return NONE if math.isnan(value) else f"{value:.3g}"


TARGETS = (0.1, 0.05, 0.01, 0.0)
"""Gaps to the best proven bound; 0 is the proven optimum."""

AXES: tuple[Axis, ...] = ("evaluations", "seconds")

COLUMNS = (
    *("label", "target", "num_runs", "num_reached", "share"),
    *(f"{statistic}_{axis}" for axis in AXES for statistic in ("median", "expected")),
)
"""Columns of `target_times`."""


def target_times(gaps: StudyGaps, traces: pd.DataFrame, targets: Sequence[float] = TARGETS) -> pd.DataFrame:
    """Return how many runs of every method reach the targets, and after how many evaluations and seconds.

    Parameters
    ----------
    gaps
        Runs at one budget, on instances with a bound above 0. Constructions reach what they reach at their end.
    traces
        As `run_steps` takes them.
    targets
        Gaps of at least 0. Where it is 0 only instances whose optimum is proven count: on others nobody knows.

    Returns
    -------
    DataFrame
        `COLUMNS`, one row per label and target, as `target_summary` explains them; NaN where the study does not know.
        An exact method counts no evaluations. Nothing is expected of a method that draws nothing at random and misses
        the target in a run: it would miss it again.

    Raises
    ------
    ValueError
        If a target is negative, or columns of the traces are missing.
    """
    import pandas as pd

    for target in targets:
        if not target >= 0:
            raise ValueError(f"targets: expected gaps of at least 0, got {target}.")
    steps = {axis: run_steps(gaps, traces, axis, constructions=True) for axis in AXES}
    parts = []
    for target in targets:
        summaries = {}
        for axis, of_axis in steps.items():
            times = of_axis.runs.assign(at=of_axis.times_to(np.full(len(of_axis.runs), float(target))))
            times = times[times["is_optimum"]] if target == 0 else times
            summaries[axis] = target_summary(times).set_index("label")
        counted = summaries["seconds"].combine_first(summaries["evaluations"])
        part = counted.reindex(list(gaps.labels))[["num_runs", "num_reached", "share"]].assign(target=float(target))
        for axis, summary in summaries.items():
            for statistic in ("median", "expected"):
                part[f"{statistic}_{axis}"] = summary[statistic].reindex(part.index)
        parts.append(part.dropna(subset=["num_runs"]).rename_axis("label").reset_index())
    found = pd.concat(parts, ignore_index=True)
    is_vain = found["label"].isin(deterministic_labels(gaps)) & (found["num_reached"] < found["num_runs"])
    found.loc[is_vain, [f"expected_{axis}" for axis in AXES]] = np.nan
    return found.astype({"num_runs": int, "num_reached": int})[list(COLUMNS)]


def target_table(gaps: StudyGaps, traces: pd.DataFrame, targets: Sequence[float] = TARGETS) -> list[Table]:
    """Return the tables of `target_times`: shares of runs, evaluations, and seconds."""
    times = target_times(gaps, traces, targets)
    at = "" if gaps.budget == "-" else f" at {gaps.budget}"
    by_key = {(row["label"], row["target"]): row for row in times.to_dict("records")}
    labels = [label for label in gaps.labels if label in set(times["label"])]
    # By the share at the easiest target, the next one, and so on: the best method on top.
    labels.sort(key=lambda label: [-_value(by_key, label, target, "share") for target in sorted(targets, reverse=True)])
    headings = ("method", *(target_name(target) for target in targets))
    counts = (times.loc[times["target"] == target, "num_runs"].max() for target in targets)
    rows = [[label, *(_share(_value(by_key, label, target, "share")) for target in targets)] for label in labels]
    rows.append(["runs at most", *("0" if count != count else str(int(count)) for count in counts)])
    tables = [
        Table(
            name="targets",
            title=f"Runs that reach a gap{at}, in %",
            headings=headings,
            rows=rows,
            num_footers=1,
            notes=[
                "Gaps are to the best proven bounds; optimum: of the runs on instances whose optimum is proven. Runs "
                "that failed or have no schedule count as missing every target."
            ],
            records=times.to_dict("records"),
            fields=list(times.columns),
        )
    ]
    for axis in AXES:
        rows = [[label, *(_times(by_key, label, target, axis) for target in targets)] for label in labels]
        rows = [row for row in rows if set(row[1:]) != {NONE}]
        if not rows:
            continue
        shown = times[["label", "target", "num_runs", "num_reached", f"median_{axis}", f"expected_{axis}"]]
        tables.append(
            Table(
                name=f"targets_{axis}",
                title=f"{axis.capitalize()} to reach a gap{at}: median / expected",
                headings=headings,
                rows=rows,
                notes=[
                    "median: over all runs, a dash where more than half never come so far; expected: what all runs "
                    "spent until they reached the gap or ended, over the number that reached it (the expected running "
                    "time of COCO: of restarts until the first success, where every restart draws seed and instance "
                    "anew; a dash where no run reached it, or a method that draws nothing missed it once)."
                ],
                records=shown.to_dict("records"),
            )
        )
    return tables


def target_name(target: float) -> str:
    """Return what a target is called."""
    return "optimum" if target == 0 else f"{100 * target:g} %"


def _value(by_key: Mapping[tuple[str, float], dict[str, Any]], label: str, target: float, field: str) -> float:
    """Return a number, NaN where there is none."""
    return float(by_key.get((label, target), {}).get(field, np.nan))


def _times(by_key: Mapping[tuple[str, float], dict[str, Any]], label: str, target: float, axis: str) -> str:
    """Return median and expected time to a target, `NONE` where neither is known."""
    values = [_value(by_key, label, target, f"{name}_{axis}") for name in ("median", "expected")]
    return " / ".join(map(_number, values)) if np.isfinite(values).any() else NONE


def _share(share: float) -> str:
    """Return a share in percent; only all of the runs are 100, and only none are 0."""
    if np.isnan(share):
        return NONE
    text = f"{100 * share:.1f}"
    if text == "100.0" and share < 1:
        return ">99.9"
    return "<0.1" if text == "0.0" and share > 0 else text


def _number(value: float) -> str:
    """Return a number with three digits, whole ones in full."""
    if not np.isfinite(value):
        return NONE
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def study_tables(
    frame: pd.DataFrame,
    *,
    parts: Sequence[str] = ("gaps",),
    budgets: Sequence[str],
    baseline: str | None = None,
    by: Sequence[str] = (),
    statistic: str = "mean",
    reductions_of: str | None = None,
    traces: pd.DataFrame | None = None,
    targets: Sequence[float] = TARGETS,
    ratios: pd.DataFrame | None = None,
) -> list[Tabular]:
    """Return the tables that are asked for.

    Parameters
    ----------
    frame
        One row per run, as `study_gaps` takes it.
    parts
        Some of "gaps", "jct", "interference", "bounds" and "targets"; the second and the third show something only in
        studies of jobs.
    budgets
        At which gaps, JCT, interference and targets are shown.
    baseline, statistic
        As for `grouped_comparison`; mean JCT is tested against the baseline too.
    by
        Groups of instances: each gives a table of gaps at every budget beside the overall one, and one of bounds.
    reductions_of
        Label whose percentage reductions against all others are shown beside the gaps, None for none.
    traces, targets
        As for `target_table`; without traces there is none.
    ratios
        As for `bound_table`; without there is none.

    Raises
    ------
    ValueError
        As `compare_methods`, `grouped_comparison`, `reductions`, `target_table` and `bound_table`.
    """
    tables: list[Tabular] = []
    if "gaps" in parts:
        for budget in budgets:
            tables.append(compare_methods(frame, budget=budget, baseline=baseline))
            for column in by:
                tables.append(grouped_comparison(frame, column, budget=budget, baseline=baseline, statistic=statistic))
        if reductions_of is not None:
            tables += [reductions(frame, reductions_of, budget=budget) for budget in budgets]
    if "jct" in parts and "jct_mean" in frame.columns:
        for budget in budgets:
            tables += jct_tables(frame, budget)
            if baseline is not None:
                tables.append(jct_test_table(frame, baseline, budget))
    if "interference" in parts and "jct_mean" in frame.columns:
        for budget in budgets:
            tables += interference_tables(frame, budget)
    if "targets" in parts and traces is not None:
        for budget in budgets:
            tables += target_table(study_gaps(frame, budget), traces, targets)
    if "bounds" in parts and ratios is not None:
        tables.append(bound_table(ratios))
        tables += [bound_table(ratios, column.split("+")) for column in by]
    return tables
