"""What was planned and what came of it: the study, its methods, its specification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.report.cells import moment, parameters_text, plain
from studies.report.page import details, listing, paragraph, table
from studies.report.section import Section

if TYPE_CHECKING:
    import pandas as pd

    from studies.experiment.study_record import StudyRecord

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
