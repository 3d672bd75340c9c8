"""The report of a stored study: one HTML page that needs nothing else."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from instances.dag.gantt import plot_gantt
from instances.dag.instance import DagInstance
from instances.dag.objective import finish_times
from instances.dag.schedule import DagSchedule
from instances.fields import one_of
from instances.text_file import write_text
from solvers.run.versions import version_of, versions
from solvers.table import Column, Shaded, Table
from studies.analysis.anytime import bound_curves
from studies.analysis.bound_ratios import bound_ratios
from studies.analysis.frames import bound_traces, to_frame, traces
from studies.analysis.gap_statistics import cell_summary
from studies.analysis.gaps import ANY_BUDGET, budgets_of, study_gaps
from studies.analysis.record import PROOF_COLUMNS, SCHEDULE_COLUMNS, study_record
from studies.experiment.stored_documents import stored_schedule
from studies.report.methods_section import budget_section
from studies.report.page import (
    Details,
    Figure,
    Listing,
    PageTable,
    Paragraph,
    Section,
    gap_colour,
    gap_text,
    known,
    moment,
    page,
    parameters_text,
    plain,
    ratio_text,
    seconds_text,
)
from studies.report.page_figures import figure_blocks, svg_of
from studies.report.study_figures import reference_figures
from studies.report.study_tables import bound_table
from studies.text import NONE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from sqlite3 import Row

    import pandas as pd

    from studies.analysis.record import StudyRecord
    from studies.experiment.store import StudyStore
    from studies.report.page import Block


def write_study_report(
    store: StudyStore, path: str | PathLike[str], *, title: str | None = None, baseline: str | None = None
) -> dict[str, int]:
    """Write the report to a file; see `study_report_html` for the parameters.

    Returns the numbers of instances, unproved instances, runs by state, figures, tables and bytes on the page.
    """
    html = study_report_html(store, title=title, baseline=baseline)
    write_text(path, html)
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

    Every number on the page is in a data frame too: `study_record` (instances, runs, environments), `to_frame` and
    `traces` (gaps), `bound_summary`, `all_pairs`, `cell_summary`, and the records of `compare_methods`.

    Parameters
    ----------
    store
        The study may be unfinished.
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
    if baseline is not None:
        one_of(baseline, labels, "baseline")
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
        *schedules_section(store, record),
        runs_section(frame),
        provenance_section(record),
    ]
    head = [*_head(record, frame), *(Paragraph(said, "verdict") for said in words)]
    return page(title or f"Study {record.name}", head, sections)


def _head(record: StudyRecord, frame: pd.DataFrame) -> list[Block]:
    """Say what was run, what gaps are measured against, and what is missing."""
    num_methods = record.runs.loc[record.runs["phase"] == "method", "label"].nunique()
    what = (
        f"{len(record.runs)} runs of {num_methods} methods and their reference on {len(record.instances)} instances; "
        f"minimised: {record.objective.replace('_', ' ')}. Report of {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, optgap "
        f"{version_of('optgap')}."
    )
    definition = (
        "The gap of a schedule with objective U against the bound L is (U - L) / L. Every schedule was checked by an "
        "independent verifier."
    )
    style = "verdict warning" if len(record.unproved) else "verdict"
    blocks: list[Block] = [Paragraph(what, "dim"), Paragraph(f"{_denominators(record, frame)} {definition}", style)]
    states = record.runs["state"].value_counts()
    failed, left = int(states.get("failed", 0)), int(states.get("pending", 0) + states.get("running", 0))
    missing = [f"{failed} of {len(record.runs)} runs failed."] if failed else []
    missing += [f"The study is not finished: {left} of {len(record.runs)} runs are still to be made."] if left else []
    none = len(record.without_schedule)
    missing += [f"{none} runs ended without a schedule."] if none else []
    return [*blocks, Paragraph(" ".join(missing), "verdict warning")] if missing else blocks


def _denominators(record: StudyRecord, frame: pd.DataFrame) -> str:
    """Say what gaps are measured against; without runs of methods, what is proven."""
    if len(frame):
        budgets = budgets_of(frame) or [ANY_BUDGET]
        return study_gaps(frame, budgets[0]).denominators()
    proven = int(record.instances["is_optimum"].sum())
    return f"No run of a method has ended yet. The optimum is proven for {proven} of {len(record.instances)} instances."


STATES = ("finished", "failed", "running", "pending")
"""States of runs, and columns of `StudyRecord.counts`."""


def _pairs(headings: Sequence[str], rows: Sequence[Sequence[str]], identifier: str, title: str, note: str) -> PageTable:
    """Return a table of names and values."""
    return PageTable(Table(headings=headings, rows=rows, numbers=(), title=title, notes=[note]), identifier)


def overview_section(record: StudyRecord, budgets: list[str]) -> Section:
    """Say what the study is; the budgets are those of its searches."""
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
        ["repetitions", plain(1 + int(record.runs["repetition"].max())) if len(record.runs) else NONE],
        ["budgets of searches", "; ".join(budgets) or "none: no method searches"],
        ["threads per run", ", ".join(str(number) for number in sorted(set(record.runs["threads"])))],
        ["runs planned", str(len(record.runs))],
        *([f"runs {name}", str(states[name])] for name in STATES if states[name] or name in ("finished", "failed")),
        ["runs without a schedule", str(len(record.without_schedule))],
        ["runs ended", f"{moment(ended.min())} to {moment(ended.max())} UTC" if len(ended) else "none yet"],
    ]
    note = "Runs include those of the reference: bounds and exact methods."
    blocks: list[Block] = [_pairs(["what", "value"], rows, "study", "The study", note)]
    if record.num_set_aside:
        blocks.append(
            Paragraph(
                f"The store holds {record.num_set_aside} more runs of earlier versions of the specification. They are "
                "in no table of runs; what they prove counts, and a schedule of theirs may show that a bound is the "
                "optimum."
            )
        )
    blocks += [_methods(methods), Details("The specification in full", [Listing(record.specification)])]
    return Section(title="What was run", identifier="what-was-run", blocks=blocks)


def _methods(counts: pd.DataFrame) -> PageTable:
    """List the methods; budgets of one method share a row."""
    records = []
    for key, group in counts.groupby(["label", "method", "kind", "parameters"], sort=False):
        budgets = "; ".join(budget for budget in group["budget"] if budget != NONE) or "none needed"
        records.append((*key, budgets, group[list(STATES)].sum()))
    columns = (
        Column("label", lambda row: row[0]),
        Column("method", lambda row: row[1]),
        Column("kind", lambda row: row[2]),
        Column("parameters", lambda row: row[3], parameters_text),
        Column("budgets", lambda row: row[4]),
        Column("finished", lambda row: row[5]["finished"], is_number=True),
        Column("failed", lambda row: row[5]["failed"], is_number=True),
        Column("not made yet", lambda row: row[5]["running"] + row[5]["pending"], is_number=True),
    )
    note = "Parameters are those that the specification gives; all others are defaults."
    return PageTable(Table.of(columns, records, title="Methods", notes=[note]), "methods")


def provenance_section(record: StudyRecord) -> Section:
    """List environments, their software, and that of the report."""
    columns = (
        Column("environment", "environment"),
        Column("hardware", "hardware", plain),
        Column("revision", "revision", plain),
        Column("runs", "num_runs", is_number=True),
        Column("ended (UTC)", lambda row: f"{moment(row['first'])} to {moment(row['last'])}"),
    )
    number = len(record.environments)
    without = int((record.runs["environment"].isna() & record.runs["state"].isin(["finished", "failed"])).sum())
    where = "1 environment" if number == 1 else f"{number} environments"
    note = f"Runs were made in {where}: machine, revision of optgap and software."
    if without:
        note += f" {without} runs ended without saying where, as runs do that are stopped from outside."
    environments = Table.of(columns, record.environments.to_dict("records"), title="Environments", notes=[note])
    blocks: list[Block] = [PageTable(environments, "environments")]
    if len(record.versions):
        blocks.append(_software(record))
    title, note = "Software that made this page", "Statistics and figures were computed with it."
    here = [[name, version or "not installed"] for name, version in versions().items()]
    blocks += [
        Details(title, [_pairs(["software", "version"], here, "report-software", title, note)]),
        Paragraph(
            "All numbers here are computed from the store of the study: schedules were verified by code that shares "
            "nothing with any method before they were stored, and a gap below 0 would have stopped this report."
        ),
    ]
    return Section(title="Made on", identifier="made-on", blocks=blocks)


def _software(record: StudyRecord) -> PageTable:
    """List the versions, with environments only where they differ."""
    rows = []
    for software, group in record.versions.groupby("software", sort=False):
        known_versions = group["version"].fillna("not installed")
        by_version = {
            version: ", ".join(str(number) for number in group.loc[known_versions == version, "environment"])
            for version in dict.fromkeys(known_versions)
        }
        different = "; ".join(f"{version} (in {numbers})" for version, numbers in by_version.items())
        rows.append([str(software), next(iter(by_version)) if len(by_version) == 1 else different])
    note = "The same in all environments where no number of one is given."
    return _pairs(["software", "version"], rows, "software", "Software", note)


PROVEN = "#d3f0da"
"""Colour behind proven optima."""


def instances_section(record: StudyRecord) -> Section:
    """List the instances with coordinates and content hashes."""
    instances, records = record.instances, record.instances.to_dict("records")
    hidden = {"instance", "sha256", *PROOF_COLUMNS, *SCHEDULE_COLUMNS}
    is_known = instances.map(plain).ne(NONE).any()
    coordinates = [name for name in instances.columns if name not in hidden and is_known[name]]
    columns = (
        Column("instance", "instance"),
        *(Column(name, name, plain, is_number=instances[name].dtype.kind in "if") for name in coordinates),
        Column("content hash", lambda row: row["sha256"][:12]),
    )
    note = "The content hash (here its first digits) identifies an instance, whatever its name."
    shown = Table.of(columns, records, title="Instances", notes=[note])
    full = "Content hashes in full"
    hashes = Table.of((Column("instance", "instance"), Column("SHA-256", "sha256")), records, title=full)
    blocks: list[Block] = [PageTable(shown, "instances"), Details(full, [PageTable(hashes, "hashes")])]
    return Section(title="Instances", identifier="instances-section", blocks=blocks)


def bounds_section(record: StudyRecord, points: pd.DataFrame) -> Section:
    """Say what is proven of every instance, and how good every source of bounds is.

    `points` are the progress of exact methods, as `bound_traces` returns it.
    """
    ratios = bound_ratios(record.references, record.instances)
    blocks: list[Block] = [_proof_table(record)]
    if len(ratios):
        curves = bound_curves(points, ratios.drop_duplicates("sha256")[["sha256", "best"]])
        blocks += [
            PageTable(bound_table(ratios), "bound-ratios"),
            *figure_blocks(reference_figures(ratios, curves), "bounds"),
            Details(f"All {len(ratios)} runs of the reference", [_reference_table(ratios)]),
        ]
    return Section(title="Bounds and proofs", identifier="bounds", blocks=blocks)


def _proof_table(record: StudyRecord) -> PageTable:
    """List the best bound of every instance."""
    columns = (
        Column("instance", "instance"),
        Column("best bound", "bound", plain, is_number=True),
        Column("is", _standing),
        Column("best objective", "objective", plain, is_number=True),
        Column("found by", "objective_label", plain),
        Column("gap %", _gap_left, is_number=True),
        Column("proved by", "bound_method", plain),
        Column("in s", "bound_seconds", seconds_text, is_number=True),
        Column("how", "bound_proof", plain),
    )
    note = (
        "Over all runs, whatever their method and budget; where several have the same, the first in the plan is named. "
        "The gap is what is left between the two."
    )
    records = record.instances.to_dict("records")
    return PageTable(
        Table.of(columns, records, title="The best that is known of every instance", notes=[note]), "proofs"
    )


def _gap_left(row: dict[str, Any]) -> str:
    """Return the gap between best bound and best objective with its colour."""
    return Shaded(gap_text(row["gap"]), "" if row["is_infeasible"] else gap_colour(known(row["gap"])))


def _standing(row: dict[str, Any]) -> str:
    """Say what a bound is."""
    if row["is_infeasible"]:
        return Shaded("infeasible: no schedule exists", PROVEN)
    if row["is_optimum"]:
        return Shaded("optimum", PROVEN)
    return "lower bound" if plain(row["bound"]) != NONE else "nothing proven"


def _termination(row: dict[str, Any]) -> str:
    """Say why a run ended."""
    return "failed" if row["state"] == "failed" else plain(row["termination"]).replace("_", " ")


def _reference_table(ratios: pd.DataFrame) -> PageTable:
    """List the runs of bounds and exact references."""
    columns = (
        Column("instance", "instance"),
        Column("bound", "label"),
        Column("limit", "budget", plain),
        Column("threads", "threads", is_number=True),
        Column("value", "bound", plain, is_number=True),
        Column("ratio", "ratio", ratio_text, is_number=True),
        Column("objective", "objective", plain, is_number=True),
        Column("seconds", "seconds", seconds_text, is_number=True),
        Column("ended by", _termination),
    )
    note = "Bounds and exact methods, once per instance."
    return PageTable(
        Table.of(columns, ratios.to_dict("records"), title="Runs of the reference", notes=[note]), "references"
    )


COMPARED_METHOD = "heft"
"""Method that is drawn below the best one; where it did not run or is as good, the worst one."""

MOST_TASKS, MOST_CHARTS = 200, 2
"""Instances with more tasks are not drawn, and no more instances than these."""

_SCHEDULES = """
SELECT key, sha256, label, method, objective FROM runs JOIN instances USING (sha256)
WHERE is_planned = 1 AND state = 'finished' AND schedule IS NOT NULL AND tasks <= ? ORDER BY runs.position
"""


def schedules_section(store: StudyStore, record: StudyRecord) -> list[Section]:
    """Draw the best schedule and that of HEFT on the DAG instances where they differ most; nothing without any."""
    bounds = record.instances.set_index("sha256")["bound"]
    runs: dict[str, list[Row]] = defaultdict(list)
    for row in store.select(_SCHEDULES, MOST_TASKS):
        runs[row["sha256"]].append(row)
    pairs = []
    for sha256, rows in runs.items():
        best = min(rows, key=lambda row: row["objective"])
        worse = [row for row in rows if row["objective"] > best["objective"] and row["label"] != best["label"]]
        if not worse or not bounds[sha256] > 0:
            continue
        compared = [row for row in worse if row["method"] == COMPARED_METHOD]
        other = (compared or [max(worse, key=lambda row: row["objective"])])[0]
        pairs.append((not compared, (best["objective"] - other["objective"]) / bounds[sha256], best, other))
    pairs.sort(key=lambda pair: pair[:2])
    blocks: list[Block] = []
    for number, (_, _, best, other) in enumerate(pairs[:MOST_CHARTS], 1):
        blocks += _charts(store, best, other, float(bounds[best["sha256"]]), number)
    note = Paragraph("The best schedule and one of another method, on one scale, where they differ most.")
    return [Section(title="Schedules", identifier="schedules", blocks=[note, *blocks])] if blocks else []


def _charts(store: StudyStore, best: Row, other: Row, bound: float, number: int) -> list[Figure]:
    """Return charts of two schedules of an instance on one scale; the number is that of the instance on the page."""
    instance = store.instance(best["sha256"])
    assert isinstance(instance, DagInstance)  # others have no tasks
    schedules = []
    for row in (best, other):
        (stored,) = store.select("SELECT schedule FROM runs WHERE key = ?", row["key"])
        schedule = stored_schedule(instance, stored["schedule"])
        assert isinstance(schedule, DagSchedule)
        schedules.append(schedule)
    end = max(int(finish_times(instance, schedule).max(initial=1)) for schedule in schedules)
    charts = []
    for name, row, schedule in zip(("best", "other"), (best, other), schedules, strict=True):
        title, identifier = f"{instance.name}: {row['label']}", f"schedule-{number}-{name}"
        told = f"Objective {row['objective']} ticks, gap {gap_text((row['objective'] - bound) / bound)} %."
        svg = svg_of(plot_gantt(instance, schedule, end=end), identifier=identifier, alternative=f"{title}. {told}")
        charts.append(Figure(svg, identifier, title, told))
    return charts


MOST_RUNS = 500
"""Up to so many runs have a row each."""


def runs_section(frame: pd.DataFrame) -> Section:
    """List the runs of the methods, or what came out for every instance, method and budget where there are many."""
    if len(frame) <= MOST_RUNS:
        columns: tuple[Column, ...] = (
            *RUN,
            Column("objective", "objective", plain, is_number=True),
            Column("gap %", "gap", gap_text, is_number=True),
            Column("status", "status"),
            Column("seconds", "seconds", seconds_text, is_number=True),
            Column("evaluations", "evaluations", plain, is_number=True),
        )
        table = Table.of(columns, frame.to_dict("records"), title="Runs of methods")
        summary = f"All {len(frame)} runs of methods"
    else:
        columns = (
            *RUN[:3],
            Column("runs", "num_runs", is_number=True),
            Column("fail", "num_failed", is_number=True),
            Column("none", "num_without_schedule", is_number=True),
            Column("optimal", "num_optimal", is_number=True),
            *(Column(name, name, plain, is_number=True) for name in ("best", "median", "worst")),
            Column("mean gap %", "mean_gap", gap_text, is_number=True),
            Column("mean s", "mean_seconds", seconds_text, is_number=True),
        )
        note = (
            "One row per instance, method and budget; objectives over repetitions. fail, none: runs that failed, and "
            "those without a schedule. Single runs are in the store of the study."
        )
        table = Table.of(columns, cell_summary(frame).to_dict("records"), title="Runs of methods", notes=[note])
        summary = f"All {len(frame)} runs of methods in {len(table.rows)} rows"
    return Section(title="Runs", identifier="runs-section", blocks=[Details(summary, [PageTable(table, "runs")])])


RUN = (
    Column("instance", "instance"),
    Column("method", "label"),
    Column("budget", "budget", plain),
    Column("repetition", "repetition", is_number=True),
    Column("seed", "seed", is_number=True),
)
"""Columns that say which run it is."""

MANY = 20
"""Rows from which on a table is folded; it is never cut."""


def open_ends_section(record: StudyRecord) -> Section:
    """List everything that failed or stayed open."""
    parts = (
        Section(title="Failed runs", identifier="failed", blocks=_failed(record.failures)),
        Section(title="Runs without a schedule", identifier="no-schedule", blocks=_none(record.without_schedule)),
        Section(title="Instances without a proven optimum", identifier="unproved", blocks=_unproved(record)),
        Section(title="Runs not made yet", identifier="not-made", blocks=_not_made(record)),
    )
    return Section(title="What failed or stayed open", identifier="open-ends", parts=parts)


def _folded(what: str, table: Table, identifier: str) -> Block:
    """Return a table, folded where it is long."""
    shown, number = PageTable(table, identifier), len(table.rows)
    return shown if number < MANY else Details(f"All {number} {what}", [shown])


def _failed(failures: pd.DataFrame) -> list[Block]:
    """List the failed runs, and their errors once each."""
    if not len(failures):
        return [Paragraph("None: no run ended in an error.")]
    number_of = {error: number for number, error in enumerate(dict.fromkeys(failures["error"]), 1)}
    errors = []
    for error, number in number_of.items():
        runs = failures[failures["error"] == error]
        errors.append([str(number), str(len(runs)), "; ".join(dict.fromkeys(runs["label"])), error])
    kinds = Table(
        headings=["number", "runs", "methods", "error"],
        rows=errors,
        numbers=["number", "runs"],
        title="Errors",
        notes=[f"{len(failures)} runs failed; they have no gap."],
    )
    columns = (
        *RUN,
        Column("ended (UTC)", "ended_at", moment),
        Column("parameters", "parameters", parameters_text),
        Column("error", lambda row: number_of[row["error"]], is_number=True),
    )
    note = "error: its number in the table above."
    listed = Table.of(columns, failures.to_dict("records"), title="Failed runs", notes=[note])
    return [PageTable(kinds, "errors"), _folded("failed runs", listed, "failed-runs")]


def _none(runs: pd.DataFrame) -> list[Block]:
    """List the runs that ended well without a schedule."""
    if not len(runs):
        return [Paragraph("None: every run that did not fail has a verified schedule.")]
    columns = (
        *RUN,
        Column("why", lambda row: "no schedule exists" if row["is_infeasible"] else "none found"),
        Column("ended by", _termination),
    )
    note = "They ended without an error; they have no gap."
    listed = Table.of(columns, runs.to_dict("records"), title="Runs without a schedule", notes=[note])
    return [_folded("runs without a schedule", listed, "runs-without-schedule")]


def _unproved(record: StudyRecord) -> list[Block]:
    """List the instances whose optimum is not known."""
    unproved, title = record.unproved, "Instances without a proven optimum"
    if not len(unproved):
        return [Paragraph(f"None: all {len(record.instances)} instances are settled.")]
    columns = (
        Column("instance", "instance"),
        Column("best bound", "bound", plain, is_number=True),
        Column("proved by", "bound_method", plain),
        Column("best objective", "objective", plain, is_number=True),
        Column("found by", "objective_label", plain),
        Column("gap left %", "gap", gap_text, is_number=True),
    )
    note = (
        f"{len(unproved)} of {len(record.instances)} instances. Gaps on them are to the best bound, and the optimality "
        "gap is at most that."
    )
    listed = Table.of(columns, unproved.to_dict("records"), title=title, notes=[note])
    return [_folded("instances without a proven optimum", listed, "unproved-instances")]


def _not_made(record: StudyRecord) -> list[Block]:
    """List the methods with runs that are still to be made."""
    left = record.runs[record.runs["state"].isin(["pending", "running"])]
    if not len(left):
        return [Paragraph("None: every planned run was made.")]
    rows = [
        [label, plain(budget), str(len(group)), str(group["sha256"].nunique())]
        for (label, budget), group in left.groupby(["label", "budget"], sort=False)
    ]
    table = Table(
        headings=["method", "budget", "runs", "instances"],
        rows=rows,
        numbers=["runs", "instances"],
        title="Runs not made yet",
        notes=["The study is not finished; every number here may still change."],
    )
    return [PageTable(table, "runs-not-made")]
