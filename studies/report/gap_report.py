"""A few runs with their schedules: gap table for the terminal, and one HTML page that needs nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from instances.dag.gantt import plot_gantt
from instances.dag.objective import finish_times
from solvers.run.versions import hardware, versions
from solvers.table import Table
from studies.analysis.gap_table import GapTable, gap_table
from studies.report.gap_figures import plot_gaps
from studies.report.page import details, figure, gap_colour, page, table, text
from studies.report.page_figures import svg_of
from studies.text import percent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from instances.dag.instance import DagInstance
    from solvers.result import Result


def write_report(results: Sequence[Result], path: str | PathLike[str], *, title: str = "Optimality gaps") -> None:
    """Write the report to a file; see `report_html` for the parameters."""
    Path(path).write_text(report_html(results, title=title), encoding="utf-8")


def report_html(results: Sequence[Result], *, title: str = "Optimality gaps", num_gantts: int = 2) -> str:
    """Return the report.

    Parameters
    ----------
    results
        Runs of any number of methods on any number of instances, one objective.
    title
        Heading of the page.
    num_gantts
        For how many instances schedules are drawn.

    Returns
    -------
    str
        HTML with all styles and figures inside.

    Raises
    ------
    ValueError
        As `gap_table`.
    """
    gaps = gap_table(results)
    sections = [_head(gaps, title), _gap_section(gaps), _matrix_section(gaps), _instance_section(results, gaps)]
    charts = gantt_section(results, gaps, num_instances=num_gantts)
    if charts:
        sections.append(
            "<h2>Schedules</h2>\n<p>The best schedule and one of another method, on one scale, for the instances where "
            f"they differ most.</p>\n{charts}"
        )
    sections += [_run_section(results, gaps), _provenance_section(results)]
    return page(title, sections)


def _head(gaps: GapTable, title: str) -> str:
    """Say what was run and what the gaps are measured against."""
    what = (
        f"{len(gaps.runs)} runs of {len(gaps.methods)} methods on {len(gaps.instances)} instances; minimised: "
        f"{gaps.objective_name.replace('_', ' ')}. {hardware()}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC."
    )
    kind = "verdict" if gaps.is_proven else "verdict warning"
    return (
        f'<h1>{text(title)}</h1>\n<p class="dim">{text(what)}</p>\n<p class="{kind}">{text(gaps.denominators())} '
        "The gap of a schedule with objective U against the bound L is (U - L) / L. Every schedule was checked by an "
        "independent verifier.</p>"
    )


def _gap_section(gaps: GapTable) -> str:
    """Compare the methods."""
    rows = table(GAP_HEADINGS, gap_table_rows(gaps), numbers=GAP_HEADINGS[1:], identifier="gaps")
    drawn = svg_of(plot_gaps(gaps), identifier="gaps-drawn", alternative="Box plots of the gaps of every method")
    caption = (
        "Every point is a run; boxes from the lower to the upper quartile, with the median; whiskers reach at most 1.5 "
        f"times as far. The green line is the {'optimum' if gaps.is_proven else 'best proven bound'}."
    )
    return (
        "<h2>Gaps by method</h2>\n"
        f"{rows}\n<p class='dim'>none: runs without a schedule, which have no gap; optimal: runs that reach a proven "
        "optimum; seconds: mean run time of the method itself.</p>\n"
        f"{figure(drawn, caption=('', caption), identifier='gaps-drawn')}"
    )


def _matrix_section(gaps: GapTable) -> str:
    """Show the gap of every method on every instance."""
    methods = [row.method for row in gaps.methods]
    rows: list[list[str | tuple[str, str]]] = []
    for index, instance in enumerate(gaps.instances):
        row: list[str | tuple[str, str]] = [instance.name if instance.is_optimum else f"{instance.name} *"]
        for method in methods:
            runs = gaps.cell(method, index)
            found = [run.gap for run in runs if run.gap is not None]
            mean = sum(found) / len(found) if found else None
            missing = "-" if runs else ""
            row.append((percent(mean) if found else missing, gap_colour(mean) if runs else ""))
        rows.append(row)
    star = "" if gaps.is_proven else " * the optimum is not proven; the gap is to the best proven bound."
    return (
        f"<h2>Gaps by instance</h2>\n{table(['instance', *methods], rows, numbers=methods, identifier='by-instance')}\n"
        f'<p class="dim">In percent; the mean where a method ran several times; a dash where it found no schedule.'
        f"{star}</p>"
    )


def _instance_section(results: Sequence[Result], gaps: GapTable) -> str:
    """List the instances and what proves their bounds."""
    instance_of_hash = {result.instance.sha256: result.instance for result in results}
    headings = [
        "instance",
        "tasks",
        "edges",
        "jobs",
        "GPUs",
        "kinds",
        "memory used",
        "bound",
        "",
        "proved by",
        "seconds",
    ]
    rows = []
    for entry in gaps.instances:
        instance, bound = instance_of_hash[entry.sha256], entry.bound
        proof = "" if bound is None else f"{bound.method}: {bound.proof}"
        rows.append(
            [
                entry.name,
                str(instance.num_tasks),
                str(instance.num_edges),
                str(instance.num_jobs),
                str(instance.num_gpus),
                ", ".join(dict.fromkeys(instance.gpu_kinds)),
                _memory(instance),
                "-" if bound is None else str(bound.value),
                "optimum" if entry.is_optimum else "lower bound",
                proof,
                "-" if bound is None else f"{bound.seconds:.3f}",
            ]
        )
    numbers = ["tasks", "edges", "GPUs", "jobs", "memory used", "bound", "seconds"]
    return f"<h2>Instances</h2>\n{table(headings, rows, numbers=numbers, identifier='instances')}"


def _memory(instance: DagInstance) -> str:
    """Return the memory of all tasks over that of all GPUs."""
    if (instance.gpu_memory < 0).any() or not instance.gpu_memory.any():
        return "no limit"
    return f"{100 * int(instance.task_memory.sum()) / int(instance.gpu_memory.sum()):.1f} %"


def _run_section(results: Sequence[Result], gaps: GapTable) -> str:
    """List every run."""
    headings = [
        "instance",
        "method",
        "objective",
        "gap %",
        "status",
        "ended by",
        "seconds",
        "seed",
        "threads",
        "parameters",
    ]
    rows = [
        [
            result.instance.name,
            result.method,
            "-" if result.objective is None else str(result.objective),
            percent(run.gap),
            str(result.status),
            str(result.termination).replace("_", " "),
            f"{result.runtime_seconds:.4f}",
            str(result.seed),
            str(result.threads),
            ", ".join(f"{key}={value}" for key, value in result.parameters.items()) or "defaults",
        ]
        for result, run in zip(results, gaps.runs, strict=True)
    ]
    numbers = ["objective", "gap %", "seconds", "seed", "threads"]
    listing = table(headings, rows, numbers=numbers, identifier="runs")
    return f"<h2>Runs</h2>\n{details(f'All {len(rows)} runs', listing)}"


def _provenance_section(results: Sequence[Result]) -> str:
    """List versions and content hashes."""
    used = [[name, version or "not installed"] for name, version in versions().items()]
    hashes = {result.instance.sha256: result.instance.name for result in results}
    contents = [[name, sha256] for sha256, name in hashes.items()]
    listing = table(["instance", "SHA-256"], contents, numbers=[], identifier="hashes")
    return (
        f"<h2>Made with</h2>\n{table(['software', 'version'], used, numbers=[], identifier='versions')}\n"
        f"{details('Content hashes of the instances', listing)}"
    )


COMPARED_METHOD = "heft"
"""Method that is drawn below the best one; where it did not run, or found the best itself, the worst one."""

MAX_TASKS = 200
"""Instances with more tasks are not drawn."""

ScoredRun = tuple["Result", float]
"""A result with a schedule, and its gap."""


def gantt_section(results: Sequence[Result], table: GapTable, *, num_instances: int) -> str:
    """Return charts of the best schedule and of HEFT's (else the worst) one where the difference is largest.

    Parameters
    ----------
    results, table
        What was run, and its gap table; of the same order.
    num_instances
        How many instances to draw.
    """
    pairs = []
    for index in range(len(table.instances)):
        scored = [
            (result, run.gap)
            for result, run in zip(results, table.runs, strict=True)
            if run.instance == index and run.gap is not None and result.instance.num_tasks <= MAX_TASKS
        ]
        pairs += _pair(scored)
    pairs.sort(key=lambda pair: (pair[1][0].method != COMPARED_METHOD, pair[0][1] - pair[1][1]))
    return "\n".join(_charts(*pair, number) for number, pair in enumerate(pairs[:num_instances], 1))


def _pair(scored: Sequence[ScoredRun]) -> list[tuple[ScoredRun, ScoredRun]]:
    """Return the best run and what it is compared with, or nothing where all are equally good."""
    if not scored:
        return []
    best = min(scored, key=lambda run: run[1])
    others = [run for run in scored if run[0].method != best[0].method and run[1] > best[1]] or scored
    worst = max(others, key=lambda run: run[1])
    heft = [run for run in scored if run[0].method == COMPARED_METHOD and run[1] > best[1]]
    other = heft[0] if heft else worst
    return [(best, other)] if other[1] > best[1] else []


def _charts(best: ScoredRun, other: ScoredRun, number: int) -> str:
    """Return two charts on one scale; the number tells them from those of other instances."""
    end = max(_makespan(result) for result, _ in (best, other))
    pieces = [f"<h3>{text(best[0].instance.name)}</h3>"]
    for which, (result, gap) in (("best", best), ("other", other)):
        assert result.schedule is not None  # it has a gap
        caption, identifier = f"{result.method}: {result.objective}, gap {percent(gap)} %", f"schedule-{number}-{which}"
        chart = plot_gantt(result.instance, result.schedule, end=end)
        drawn = svg_of(chart, identifier=identifier, alternative=f"Schedule of {caption}")
        pieces.append(figure(drawn, caption=("", caption), identifier=identifier))
    return "\n".join(pieces)


def _makespan(result: Result) -> int:
    """Return the last finish."""
    assert result.schedule is not None  # it has a gap
    return int(finish_times(result.instance, result.schedule).max(initial=1))


GAP_HEADINGS = ("method", "runs", "none", "optimal", "mean %", "median %", "worst %", "seconds")
"""Columns; `none` counts runs without a schedule, `seconds` is the mean run time."""


def gap_table_rows(table: GapTable) -> list[list[str]]:
    """Return one row of texts per method, under `GAP_HEADINGS`."""
    return [
        [
            row.method,
            str(row.num_runs),
            str(row.num_without_schedule),
            str(row.num_optimal),
            percent(row.mean_gap),
            percent(row.median_gap),
            percent(row.worst_gap),
            f"{row.mean_seconds:.4f}",
        ]
        for row in table.methods
    ]


def gap_table_text(table: GapTable) -> str:
    """Return the table with what the gaps are measured against; fits 80 columns."""
    return Table(
        headings=GAP_HEADINGS,
        rows=gap_table_rows(table),
        title=f"Gaps of the {table.objective_name.replace('_', ' ')} over {len(table.instances)} instances",
        notes=[f"{table.denominators()} none: runs without a schedule, which have no gap; seconds: mean run time."],
    ).to_text()


INSTANCE_HEADINGS = ("instance", "tasks", "edges", "GPUs", "bound", "proved by", "seconds")


def instance_table_text(results: Sequence[Result], table: GapTable) -> str:
    """Return sizes, best bounds and what proves them; fits 80 columns."""
    instance_of_hash = {result.instance.sha256: result.instance for result in results}
    rows = []
    for entry in table.instances:
        instance, bound = instance_of_hash[entry.sha256], entry.bound
        rows.append(
            [
                entry.name,
                str(instance.num_tasks),
                str(instance.num_edges),
                str(instance.num_gpus),
                "-" if bound is None else f"{bound.value}{'' if entry.is_optimum else ' *'}",
                "-" if bound is None else bound.method,
                "-" if bound is None else f"{bound.seconds:.2f}",
            ]
        )
    proven = "Every bound is the optimum." if table.is_proven else "* not proven to be the optimum."
    return Table(
        headings=INSTANCE_HEADINGS,
        rows=rows,
        numbers=("tasks", "edges", "GPUs", "bound", "seconds"),
        title="Instances",
        notes=[proven],
    ).to_text()
