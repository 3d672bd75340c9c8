"""A report of a stored study: one HTML page that needs nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from solvers.run.versions import version_of, versions
from studies.analysis.frames import bound_traces, to_frame, traces
from studies.analysis.gaps import ANY_BUDGET, budgets_of, study_gaps
from studies.analysis.record import study_record
from studies.report.methods_section import budget_section
from studies.report.page import (
    Section,
    contents,
    details,
    listing,
    moment,
    page,
    paragraph,
    parameters_text,
    plain,
    table,
    text,
)
from studies.report.runs_sections import bounds_section, instances_section, open_ends_section, runs_section

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd

    from studies.analysis.record import StudyRecord
    from studies.experiment.store import StudyStore


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


STATES = ("finished", "failed", "running", "pending")
"""Of runs, and columns of `StudyRecord.counts`."""


def overview_section(record: StudyRecord, budgets: list[str]) -> Section:
    """Say what the study is.

    Parameters
    ----------
    record
        Of the study.
    budgets
        Of its searches.
    """
    counts = record.counts()
    methods = counts[counts["phase"] == "method"]
    states = counts[list(STATES)].sum()
    ended = record.runs["ended_at"].dropna()
    rows = [
        ["study", record.name],
        ["minimised", record.objective.replace("_", " ")],
        ["seed", str(record.seed)],
        ["instances", str(len(record.instances))],
        ["methods", str(methods["label"].nunique())],
        ["repetitions", plain(1 + int(record.runs["repetition"].max())) if len(record.runs) else "-"],
        ["budgets of searches", "; ".join(budgets) or "none: no method searches"],
        ["threads per run", ", ".join(str(number) for number in sorted(set(record.runs["threads"])))],
        ["runs planned", str(len(record.runs))],
        *(
            [f"runs {state}", str(states[state])]
            for state in STATES
            if states[state] or state in ("finished", "failed")
        ),
        ["runs without a schedule", str(len(record.without_schedule))],
        ["runs ended", f"{moment(ended.min())} to {moment(ended.max())} UTC" if len(ended) else "none yet"],
    ]
    pieces = [
        table(
            ["what", "value"],
            rows,
            numbers=[],
            caption=("The study", "Runs include those of the reference: bounds and exact methods."),
            identifier="study",
        )
    ]
    if record.num_set_aside:
        pieces.append(
            paragraph(
                f"The store holds {record.num_set_aside} more runs of earlier versions of the specification. They are "
                "in no table of runs; what they prove counts, and a schedule of theirs may show that a bound is the "
                "optimum."
            )
        )
    pieces.append(_methods(methods))
    pieces.append(details("The specification in full", listing(record.specification), is_open=False))
    return Section(title="What was run", identifier="what-was-run", body="\n".join(pieces))


def _methods(counts: pd.DataFrame) -> str:
    """List the methods; budgets of one method share a row."""
    rows = []
    for (label, method, kind, parameters), group in counts.groupby(
        ["label", "method", "kind", "parameters"], sort=False
    ):
        budgets = [budget for budget in group["budget"] if budget != "-"]
        sums = group[list(STATES)].sum()
        rows.append(
            [
                label,
                method,
                kind,
                parameters_text(parameters),
                "; ".join(budgets) or "none needed",
                str(sums["finished"]),
                str(sums["failed"]),
                str(sums["running"] + sums["pending"]),
            ]
        )
    headings = ["label", "method", "kind", "parameters", "budgets", "finished", "failed", "not made yet"]
    return table(
        headings,
        rows,
        numbers=headings[5:],
        caption=("Methods", "Parameters are those that the specification gives; all others are defaults."),
        identifier="methods",
    )


def provenance_section(record: StudyRecord) -> Section:
    """List environments, their software, and that of the report."""
    pieces = []
    rows = [
        [
            str(row["environment"]),
            plain(row["hardware"]),
            plain(row["revision"]),
            str(row["num_runs"]),
            f"{moment(row['first'])} to {moment(row['last'])}",
        ]
        for row in record.environments.to_dict("records")
    ]
    without = int((record.runs["environment"].isna() & record.runs["state"].isin(["finished", "failed"])).sum())
    lost = f" {without} runs ended without saying where, as runs do that are stopped from outside." if without else ""
    where = "1 environment" if len(rows) == 1 else f"{len(rows)} environments"
    explanation = f"Runs were made in {where}: machine, revision of optgap and software.{lost}"
    pieces.append(
        table(
            ["environment", "hardware", "revision", "runs", "ended (UTC)"],
            rows,
            numbers=["runs"],
            caption=("Environments", explanation),
            identifier="environments",
        )
    )
    if len(record.versions):
        pieces.append(_software(record))
    here = table(
        ["software", "version"],
        [[name, version or "not installed"] for name, version in versions().items()],
        numbers=[],
        caption=("Software that made this page", "Statistics and figures were computed with it."),
        identifier="report-software",
    )
    pieces.append(details("Software that made this page", here))
    pieces.append(
        paragraph(
            "All numbers here are computed from the store of the study: schedules were verified by code that shares "
            "nothing with any method before they were stored, and a gap below 0 would have stopped this report."
        )
    )
    return Section(title="Made on", identifier="made-on", body="\n".join(pieces))


def _software(record: StudyRecord) -> str:
    """List the versions, with environments only where they differ."""
    rows = []
    for software, group in record.versions.groupby("software", sort=False):
        known = group["version"].fillna("not installed")
        by_version = {
            version: ", ".join(str(number) for number in group.loc[known == version, "environment"])
            for version in dict.fromkeys(known)
        }
        different = "; ".join(f"{version} (in {numbers})" for version, numbers in by_version.items())
        rows.append([software, next(iter(by_version)) if len(by_version) == 1 else different])
    return table(
        ["software", "version"],
        rows,
        numbers=[],
        caption=("Software", "The same in all environments where no number of one is given."),
        identifier="software",
    )
