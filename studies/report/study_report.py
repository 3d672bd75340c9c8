"""A report of a stored study: one HTML page that needs nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from solvers.versions import version_of
from studies.experiment.bound_traces import bound_traces
from studies.experiment.study_frame import to_frame, traces
from studies.experiment.study_record import study_record
from studies.report.page import page, paragraph, text
from studies.report.section import contents
from studies.report.study_budget import budget_section
from studies.report.study_instances import bounds_section, instances_section
from studies.report.study_open_ends import open_ends_section
from studies.report.study_overview import STATES, overview_section
from studies.report.study_provenance import provenance_section
from studies.report.study_runs import runs_section
from studies.statistics.study_gaps import ANY_BUDGET, budgets_of, study_gaps

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd

    from studies.experiment.study_record import StudyRecord
    from studies.experiment.study_store import StudyStore


def write_study_report(
    store: StudyStore, path: str | PathLike[str], *, title: str | None = None, baseline: str | None = None
) -> dict[str, int]:
    """Write the report to a file; see `study_report_html` for the parameters.

    Returns
    -------
    dict[str, int]
        How many instances, unproved instances, runs by state, figures, tables and bytes are on the page.
    """
    html = study_report_html(store, title=title, baseline=baseline)
    Path(path).write_text(html, encoding="utf-8")
    record = study_record(store)
    states = record.runs["state"].value_counts()
    return {
        "instances": len(record.instances),
        "unproved_instances": len(record.unproved),
        "runs": len(record.runs),
        **{f"{state}_runs": int(states.get(state, 0)) for state in STATES},
        "runs_without_schedule": len(record.without_schedule),
        "figures": html.count("<figure "),
        "tables": html.count("<table "),
        "bytes": len(html.encode()),
    }


def study_report_html(store: StudyStore, *, title: str | None = None, baseline: str | None = None) -> str:
    """Return the report.

    Every number of it is in a data frame too: `study_record` (instances, runs, environments), `to_frame` and `traces`
    (gaps), `bound_summary`, `all_pairs`, `cell_summary`, and the records of `compare`.

    Parameters
    ----------
    store
        Of the study, finished or not.
    title
        Heading of the page; by default the name of the study.
    baseline
        Label of the method that the others are tested against; by default the one with the smallest mean gap, and then
        the tests are corrected for having picked it.

    Returns
    -------
    str
        HTML with all styles and figures inside; the same bytes for the same store, apart from the date.

    Raises
    ------
    ValueError
        If nothing was planned in the store, or no method has the label of the baseline.
    ContradictionError
        If a proof contradicts a schedule.
    """
    record, frame = study_record(store), to_frame(store)
    labels = list(dict.fromkeys(record.runs.loc[record.runs["phase"] == "method", "label"]))
    if baseline is not None and baseline not in labels:
        raise ValueError(f"baseline: expected one of {', '.join(labels)}, got {baseline!r}.")
    points = traces(store)
    results, words = [], []
    for budget in (budgets_of(frame) or [ANY_BUDGET]) if len(frame) else []:
        section, said = budget_section(frame, points, budget, baseline)
        results.append(section)
        words.append(said if budget == ANY_BUDGET else f"At {budget}: {said}")
    sections = [
        overview_section(record, budgets_of(frame) if len(frame) else []),
        *results,
        bounds_section(record, bound_traces(store)),
        open_ends_section(record),
        instances_section(record),
        runs_section(frame),
        provenance_section(record),
    ]
    heading = title or f"Study {record.name}"
    head = [*_head(record, frame, heading), *(paragraph(said, "verdict") for said in words)]
    return page(heading, [*head, contents(sections), *(section.html() for section in sections)])


def _head(record: StudyRecord, frame: pd.DataFrame, title: str) -> list[str]:
    """Say what was run, what gaps are measured against, and what is missing."""
    now, version = datetime.now(UTC), version_of("optgap")
    num_methods = record.runs.loc[record.runs["phase"] == "method", "label"].nunique()
    what = (
        f"{len(record.runs)} runs of {num_methods} methods and their reference on {len(record.instances)} instances; "
        f"minimised: {record.objective.replace('_', ' ')}. Report of {now:%Y-%m-%d %H:%M} UTC, optgap {version}."
    )
    pieces = [f"<h1>{text(title)}</h1>", paragraph(what, "dim")]
    definition = (
        "The gap of a schedule with objective U against the bound L is (U - L) / L. Every schedule was checked by an "
        "independent verifier."
    )
    denominators = _denominators(record, frame)
    is_settled = not len(record.unproved)
    pieces.append(paragraph(f"{denominators} {definition}", "verdict" if is_settled else "verdict warning"))
    states = record.runs["state"].value_counts()
    failed, left = int(states.get("failed", 0)), int(states.get("pending", 0) + states.get("running", 0))
    missing = [f"{failed} of {len(record.runs)} runs failed."] if failed else []
    missing += [f"The study is not finished: {left} of {len(record.runs)} runs are still to be made."] if left else []
    none = len(record.without_schedule)
    missing += [f"{none} runs ended without a schedule."] if none else []
    if missing:
        pieces.append(paragraph(" ".join(missing), "verdict warning"))
    return pieces


def _denominators(record: StudyRecord, frame: pd.DataFrame) -> str:
    """Say what gaps are measured against; without runs of methods, what is proven."""
    if len(frame):
        budgets = budgets_of(frame) or [ANY_BUDGET]
        return study_gaps(frame, budgets[0]).denominators()
    proven = int(record.instances["is_optimum"].sum())
    return f"No run of a method has ended yet. The optimum is proven for {proven} of {len(record.instances)} instances."
