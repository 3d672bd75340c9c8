"""How many runs come within given gaps of the proven bound, and what that takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.statistics.cell_text import NONE
from studies.statistics.run_steps import run_steps
from studies.statistics.stability import deterministic_labels
from studies.statistics.table_view import TableView
from studies.statistics.time_to_target import target_summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from studies.statistics.run_steps import Axis
    from studies.statistics.study_gaps import StudyGaps

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


def target_table(gaps: StudyGaps, traces: pd.DataFrame, targets: Sequence[float] = TARGETS) -> list[TableView]:
    """Return the tables of `target_times`: shares of runs, evaluations, and seconds."""
    times = target_times(gaps, traces, targets)
    at = "" if gaps.budget == "-" else f" at {gaps.budget}"
    labels = [label for label in gaps.labels if label in set(times["label"])]
    by_key = times.set_index(["label", "target"])
    # By the share at the target that is easiest, the next one, and so on: the best method on top.
    easiest = sorted(targets, reverse=True)
    labels.sort(key=lambda label: [-_value(by_key, label, target, "share") for target in easiest])
    headings = ("method", *(target_name(target) for target in targets))
    counts = tuple(
        str(int(times.loc[times["target"] == target, "num_runs"].max())) if (times["target"] == target).any() else "0"
        for target in targets
    )
    shares = [(label, *(_share(_value(by_key, label, target, "share")) for target in targets)) for label in labels]
    tables = [
        TableView(
            name="targets",
            title=f"Runs that reach a gap{at}, in %",
            frame=times,
            headings=headings,
            rows=(*shares, ("runs at most", *counts)),
            notes=(
                "Gaps are to the best proven bounds; optimum: of the runs on instances whose optimum is proven. Runs "
                "that failed or have no schedule count as missing every target.",
            ),
        )
    ]
    for axis in AXES:
        known = [label for label in labels if any(_is_known(by_key, label, target, axis) for target in targets)]
        if not known:
            continue
        rows = [
            (
                label,
                *(
                    f"{_number(_value(by_key, label, target, f'median_{axis}'))} / "
                    f"{_number(_value(by_key, label, target, f'expected_{axis}'))}"
                    if _is_known(by_key, label, target, axis)
                    else NONE
                    for target in targets
                ),
            )
            for label in known
        ]
        tables.append(
            TableView(
                name=f"targets_{axis}",
                title=f"{axis.capitalize()} to reach a gap{at}: median / expected",
                frame=times[["label", "target", "num_runs", "num_reached", f"median_{axis}", f"expected_{axis}"]],
                headings=headings,
                rows=tuple(rows),
                notes=(
                    "median: over all runs, a dash where more than half never come so far; expected: what all runs "
                    "spent until they reached the gap or ended, over the number that reached it (the expected running "
                    "time of COCO: of restarts until the first success, where every restart draws seed and instance "
                    "anew; a dash where no run reached it, or a method that draws nothing missed it once).",
                ),
            )
        )
    return tables


def target_name(target: float) -> str:
    """Return what a target is called."""
    return "optimum" if target == 0 else f"{100 * target:g} %"


def _value(by_key: pd.DataFrame, label: str, target: float, column: str) -> float:
    """Return a number, NaN where there is none."""
    return float(by_key[column].get((label, target), np.nan))


def _is_known(by_key: pd.DataFrame, label: str, target: float, axis: str) -> bool:
    """Say whether anything is known of a time."""
    return any(np.isfinite(_value(by_key, label, target, f"{name}_{axis}")) for name in ("median", "expected"))


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
