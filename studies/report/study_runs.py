"""The runs of a study: one by one where they are few, else one row per instance, method and budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.report.cells import gap_text, plain, seconds_text
from studies.report.page import details, table
from studies.report.section import Section
from studies.statistics.cell_summary import cell_summary

if TYPE_CHECKING:
    import pandas as pd

MOST_RUNS = 500
"""Up to so many runs have a row each."""


def runs_section(frame: pd.DataFrame) -> Section:
    """List the runs of the methods.

    Parameters
    ----------
    frame
        One row per run, as `to_frame` returns it.
    """
    if len(frame) <= MOST_RUNS:
        body = details(f"All {len(frame)} runs of methods", _one_by_one(frame))
    else:
        cells = cell_summary(frame)
        summary = f"All {len(frame)} runs of methods in {len(cells)} rows"
        body = details(summary, _by_cell(cells))
    return Section(title="Runs", identifier="runs-section", body=body)


def _one_by_one(frame: pd.DataFrame) -> str:
    """List every run."""
    rows = [
        [
            row["instance"],
            row["label"],
            plain(row["budget"]),
            str(row["repetition"]),
            str(row["seed"]),
            plain(row["objective"]),
            gap_text(row["gap"]),
            row["status"],
            seconds_text(row["seconds"]),
            plain(row["evaluations"]),
        ]
        for row in frame.to_dict("records")
    ]
    headings = [
        "instance",
        "method",
        "budget",
        "repetition",
        "seed",
        "objective",
        "gap %",
        "status",
        "seconds",
        "evaluations",
    ]
    numbers = ["repetition", "seed", "objective", "gap %", "seconds", "evaluations"]
    return table(headings, rows, numbers=numbers, caption=("Runs of methods", ""), identifier="runs")


def _by_cell(cells: pd.DataFrame) -> str:
    """List every instance, method and budget."""
    rows = [
        [
            row["instance"],
            row["label"],
            plain(row["budget"]),
            str(row["num_runs"]),
            str(row["num_failed"]),
            str(row["num_without_schedule"]),
            str(row["num_optimal"]),
            plain(row["best"]),
            plain(row["median"]),
            plain(row["worst"]),
            gap_text(row["mean_gap"]),
            seconds_text(row["mean_seconds"]),
        ]
        for row in cells.to_dict("records")
    ]
    headings = [
        "instance",
        "method",
        "budget",
        "runs",
        "fail",
        "none",
        "optimal",
        "best",
        "median",
        "worst",
        "mean gap %",
        "mean s",
    ]
    explanation = (
        "One row per instance, method and budget; objectives over repetitions. fail, none: runs that failed, and those "
        "without a schedule. Single runs are in the store of the study."
    )
    return table(headings, rows, numbers=headings[3:], caption=("Runs of methods", explanation), identifier="runs")
