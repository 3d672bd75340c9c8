"""The instances of a study with what is proven of each, its runs one by one, and what did not come out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.analysis.anytime import bound_curves
from studies.analysis.bound_ratios import bound_ratios
from studies.analysis.gap_statistics import cell_summary
from studies.analysis.record import PROOF_COLUMNS, SCHEDULE_COLUMNS
from studies.report.page import (
    Section,
    details,
    gap_colour,
    gap_text,
    known,
    moment,
    paragraph,
    parameters_text,
    plain,
    ratio_text,
    seconds_text,
    table,
)
from studies.report.page_figures import figures_html
from studies.report.study_figures import reference_figures
from studies.report.study_tables import bound_table

if TYPE_CHECKING:
    import pandas as pd

    from studies.analysis.record import StudyRecord


PROVEN = "#d3f0da"
"""Behind proven optima."""


def instances_section(record: StudyRecord) -> Section:
    """List the instances with coordinates and content hashes."""
    instances = record.instances
    hidden = {"instance", "sha256", *PROOF_COLUMNS, *SCHEDULE_COLUMNS}
    coordinates = [
        name for name in instances.columns if name not in hidden and instances[name].map(plain).ne("-").any()
    ]
    rows = [
        [row["instance"], *(plain(row[name]) for name in coordinates), row["sha256"][:12]]
        for row in instances.to_dict("records")
    ]
    shown = table(
        ["instance", *coordinates, "content hash"],
        rows,
        numbers=[name for name in coordinates if instances[name].dtype.kind in "if"],
        caption=(
            "Instances",
            "The content hash (here its first digits) says which instance it is, whatever its name.",
        ),
        identifier="instances",
    )
    hashes = table(
        ["instance", "SHA-256"],
        [[row["instance"], row["sha256"]] for row in instances.to_dict("records")],
        numbers=[],
        caption=("Content hashes in full", ""),
        identifier="hashes",
    )
    body = f"{shown}\n{details('Content hashes in full', hashes)}"
    return Section(title="Instances", identifier="instances-section", body=body)


def bounds_section(record: StudyRecord, points: pd.DataFrame) -> Section:
    """Say what is proven of every instance, and what every source of bounds is worth.

    Parameters
    ----------
    record
        Of the study.
    points
        Of exact methods, as `bound_traces` returns them.
    """
    ratios = bound_ratios(record.references, record.instances)
    pieces = [_proof_table(record)]
    if len(ratios):
        pieces.append(bound_table(ratios).to_html(identifier="bound-ratios"))
        curves = bound_curves(points, ratios.drop_duplicates("sha256")[["sha256", "best"]])
        pieces.append(figures_html(reference_figures(ratios, curves), "bounds"))
        pieces.append(details(f"All {len(ratios)} runs of the reference", _reference_table(ratios)))
    return Section(title="Bounds and proofs", identifier="bounds", body="\n".join(pieces))


def _proof_table(record: StudyRecord) -> str:
    """List the best bound of every instance."""
    rows: list[list[str | tuple[str, str]]] = [
        [
            row["instance"],
            plain(row["bound"]),
            _standing(row),
            plain(row["objective"]),
            plain(row["objective_label"]),
            (gap_text(row["gap"]), "" if row["is_infeasible"] else gap_colour(known(row["gap"]))),
            plain(row["bound_method"]),
            seconds_text(row["bound_seconds"]),
            plain(row["bound_proof"]),
        ]
        for row in record.instances.to_dict("records")
    ]
    headings = [
        "instance",
        "best bound",
        "is",
        "best objective",
        "found by",
        "gap %",
        "proved by",
        "in s",
        "how",
    ]
    explanation = (
        "Over all runs, whatever their method and budget; where several have the same, the first in the plan is named. "
        "The gap is what is left between the two."
    )
    return table(
        headings,
        rows,
        numbers=["best bound", "best objective", "gap %", "in s"],
        caption=("The best that is known of every instance", explanation),
        identifier="proofs",
    )


def _standing(row: dict[str, object]) -> tuple[str, str]:
    """Say what a bound is."""
    if row["is_infeasible"]:
        return ("infeasible: no schedule exists", PROVEN)
    if row["is_optimum"]:
        return ("optimum", PROVEN)
    return ("lower bound" if plain(row["bound"]) != "-" else "nothing proven", "")


def _reference_table(ratios: pd.DataFrame) -> str:
    """List the runs of bounds and exact references."""
    rows = [
        [
            row["instance"],
            row["label"],
            plain(row["budget"]),
            str(row["threads"]),
            plain(row["bound"]),
            ratio_text(row["ratio"]),
            plain(row["objective"]),
            seconds_text(row["seconds"]),
            "failed" if row["state"] == "failed" else plain(row["termination"]).replace("_", " "),
        ]
        for row in ratios.to_dict("records")
    ]
    headings = ["instance", "bound", "limit", "threads", "value", "ratio", "objective", "seconds", "ended by"]
    return table(
        headings,
        rows,
        numbers=["threads", "value", "ratio", "objective", "seconds"],
        caption=("Runs of the reference", "Bounds and exact methods, once per instance."),
        identifier="references",
    )


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
