"""What did not come out: failed runs, runs without a schedule, instances without a proof, runs not made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.report.cells import gap_text, moment, parameters_text, plain
from studies.report.page import details, paragraph, table
from studies.report.section import Section

if TYPE_CHECKING:
    import pandas as pd

    from studies.experiment.study_record import StudyRecord

MANY = 20
"""Rows from which on a table is folded; it is never cut."""

RUN = ["instance", "method", "budget", "repetition", "seed"]
"""Headings that say which run it is."""


def open_ends_section(record: StudyRecord) -> Section:
    """List everything that failed or stayed open."""
    parts = (
        Section(title="Failed runs", identifier="failed", body=_failed(record.failures)),
        Section(title="Runs without a schedule", identifier="no-schedule", body=_none(record.without_schedule)),
        Section(title="Instances without a proven optimum", identifier="unproved", body=_unproved(record)),
        Section(title="Runs not made yet", identifier="not-made", body=_not_made(record)),
    )
    return Section(title="What failed or stayed open", identifier="open-ends", parts=parts)


def _folded(number: int, what: str, shown: str) -> str:
    """Fold a long table."""
    return shown if number < MANY else details(f"All {number} {what}", shown)


def _failed(failures: pd.DataFrame) -> str:
    """List the failed runs, and their errors once each."""
    if not len(failures):
        return paragraph("None: no run ended in an error.")
    number_of = {error: number for number, error in enumerate(dict.fromkeys(failures["error"]), 1)}
    errors = [
        [str(number), str((failures["error"] == error).sum()), _labels(failures[failures["error"] == error]), error]
        for error, number in number_of.items()
    ]
    rows = [
        [*_run(row), moment(row["ended_at"]), parameters_text(row["parameters"]), str(number_of[row["error"]])]
        for row in failures.to_dict("records")
    ]
    kinds = table(
        ["number", "runs", "methods", "error"],
        errors,
        numbers=["number", "runs"],
        caption=(
            "Errors",
            f"{len(failures)} runs failed; they have no gap.",
        ),
        identifier="errors",
    )
    listed = table(
        [*RUN, "ended (UTC)", "parameters", "error"],
        rows,
        numbers=["repetition", "seed", "error"],
        caption=("Failed runs", "error: its number in the table above."),
        identifier="failed-runs",
    )
    return f"{kinds}\n{_folded(len(rows), 'failed runs', listed)}"


def _labels(runs: pd.DataFrame) -> str:
    """Return the labels of some runs."""
    return "; ".join(dict.fromkeys(runs["label"]))


def _run(row: dict[str, object]) -> list[str]:
    """Return the cells under `RUN`."""
    return [str(row["instance"]), str(row["label"]), plain(row["budget"]), str(row["repetition"]), str(row["seed"])]


def _none(runs: pd.DataFrame) -> str:
    """List the runs that ended well without a schedule."""
    if not len(runs):
        return paragraph("None: every run that did not fail has a verified schedule.")
    rows = [
        [
            *_run(row),
            "no schedule exists" if row["is_infeasible"] else "none found",
            plain(row["termination"]).replace("_", " "),
        ]
        for row in runs.to_dict("records")
    ]
    listed = table(
        [*RUN, "why", "ended by"],
        rows,
        numbers=["repetition", "seed"],
        caption=("Runs without a schedule", "They ended without an error; they have no gap."),
        identifier="runs-without-schedule",
    )
    return _folded(len(rows), "runs without a schedule", listed)


def _unproved(record: StudyRecord) -> str:
    """List the instances whose optimum is not known."""
    unproved = record.unproved
    if not len(unproved):
        return paragraph(f"None: all {len(record.instances)} instances are settled.")
    rows = [
        [
            row["instance"],
            plain(row["bound"]),
            plain(row["bound_method"]),
            plain(row["objective"]),
            plain(row["objective_label"]),
            gap_text(row["gap"]),
        ]
        for row in unproved.to_dict("records")
    ]
    headings = ["instance", "best bound", "proved by", "best objective", "found by", "gap left %"]
    explanation = (
        f"{len(rows)} of {len(record.instances)} instances. Gaps on them are to the best bound, and the optimality gap "
        "is at most that."
    )
    listed = table(
        headings,
        rows,
        numbers=["best bound", "best objective", "gap left %"],
        caption=("Instances without a proven optimum", explanation),
        identifier="unproved-instances",
    )
    return _folded(len(rows), "instances without a proven optimum", listed)


def _not_made(record: StudyRecord) -> str:
    """List the methods with runs that are still to be made."""
    left = record.runs[record.runs["state"].isin(["pending", "running"])]
    if not len(left):
        return paragraph("None: every planned run was made.")
    rows = [
        [label, plain(budget), str(len(group)), str(group["sha256"].nunique())]
        for (label, budget), group in left.groupby(["label", "budget"], sort=False)
    ]
    return table(
        ["method", "budget", "runs", "instances"],
        rows,
        numbers=["runs", "instances"],
        caption=("Runs not made yet", "The study is not finished; every number here may still change."),
        identifier="runs-not-made",
    )
