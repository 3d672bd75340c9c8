"""Methods side by side at one budget: summary in sentences, tables, tests, groups of instances, figures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from solvers.table import Shaded, Table
from studies.analysis.comparison import compare_methods
from studies.analysis.gaps import ANY_BUDGET, study_gaps
from studies.analysis.grouped_comparison import grouped_comparison
from studies.analysis.online_summary import jct_test_table
from studies.analysis.paired_tests import against, all_pairs
from studies.analysis.ranks import LEVEL
from studies.analysis.verdict import best_method, study_summary
from studies.report.jobs_tables import interference_tables, jct_tables
from studies.report.page import Details, Notes, PageTable, Section, gap_colour, known, slug
from studies.report.page_figures import figure_blocks
from studies.report.study_figures import study_figures
from studies.report.study_tables import target_table
from studies.text import decimal, p_text, percent

if TYPE_CHECKING:
    import pandas as pd

    from studies.analysis.comparison import MethodComparison
    from studies.analysis.gaps import StudyGaps
    from studies.analysis.grouped_comparison import GroupedComparison
    from studies.report.page import Block


GAPS = (
    *("method", "inst", "runs", "fail", "none", "opt %"),
    *("mean %", "q25 %", "med %", "q75 %", "q90 %", "worst %", "rank", "seconds"),
)
"""Columns of the first table."""

SPREAD = ("method", "IQR %", "range %")
PLANNED = (*SPREAD, "pairs", "diff", "95 % interval", "p", "p Holm", "effect")
"""Columns of the second table: without a baseline, and with one that was given."""

BETTER, WORSE = "#d3f0da", "#fbd5c9"
"""Colours behind significant differences."""

MOST_CELLS = 2000
"""Instances times methods up to which the gaps of every method on every instance are shown."""


def budget_section(frame: pd.DataFrame, traces: pd.DataFrame, budget: str, baseline: str | None) -> tuple[Section, str]:
    """Compare the methods at a budget.

    Parameters
    ----------
    frame, traces
        Runs and improvements of the study.
    budget
        One of the frame's, or `ANY_BUDGET`.
    baseline
        Label that the others are tested against; None takes the best and corrects for having picked it.

    Returns
    -------
    Section, str
        The section, and its verdict in words.
    """
    frame = frame[frame["budget"].isin([budget, ANY_BUDGET])]  # rows know the best bound over all budgets
    gaps = study_gaps(frame, budget)
    planned = baseline if baseline in gaps.labels else None
    comparison = compare_methods(frame, budget=budget, baseline=planned)
    pairs = all_pairs(gaps)
    best = best_method(comparison)
    if planned is None and best is not None and len(gaps.labels) > 1:
        comparison = compare_methods(frame, budget=budget, baseline=best)
    anchor = "results" if budget == ANY_BUDGET else f"results-{slug(budget)}"
    at = "" if budget == ANY_BUDGET else f" at {budget}"
    words = " ".join(study_summary(comparison, pairs, baseline=planned))
    if baseline is not None and planned is None:
        words = f"The baseline {baseline} has no run here. {words}"
    tests = _planned_tests(comparison, at) if planned else _chosen_tests(comparison, pairs, at)
    blocks: list[Block] = [
        PageTable(_gap_table(comparison, at), f"{anchor}-gaps"),
        PageTable(tests, f"{anchor}-tests"),
        Notes(replace(comparison, baseline=None).notes()),
    ]
    if len(pairs):
        shown = PageTable(_all_pairs(comparison, pairs, at), f"{anchor}-pairs")
        blocks.append(Details(f"Tests of all {len(pairs)} pairs of methods", [shown]))
    if len(gaps.instances) * len(gaps.labels) <= MOST_CELLS:
        matrix = PageTable(_by_instance(gaps, comparison, at), f"{anchor}-by-instance")
        blocks.append(Details(f"Gaps on each of {len(gaps.instances)} instances", [matrix]))
    figures = figure_blocks(study_figures(gaps, traces), anchor, at)
    parts = [
        *groups_part(frame, comparison, planned, anchor),
        *_tables_part(f"Job completion time{at}", f"{anchor}-jct", anchor, _jct(frame, budget, planned)),
        *_tables_part(f"Time to target{at}", f"{anchor}-time-to-target", anchor, target_table(gaps, traces)),
        Section(title=f"Figures{at}", identifier=f"{anchor}-figures", blocks=figures),
    ]
    return Section(title=f"Results{at}", identifier=anchor, blocks=blocks, parts=parts), words


def _gap_table(comparison: MethodComparison, at: str) -> Table:
    """Return the gaps of every method."""
    rows = []
    for texts, row in zip(comparison.rows(GAPS), comparison.methods, strict=True):
        gap_of = {"mean %": row.mean_gap, "med %": row.median_gap}
        rows.append(
            [
                Shaded(text, gap_colour(gap_of[heading])) if heading in gap_of else text
                for heading, text in zip(GAPS, texts, strict=True)
            ]
        )
    note = "By median gap. inst: instances with a gap; q25 to q90: quantiles; seconds: mean time of the method itself."
    return Table(headings=GAPS, rows=rows, title=f"Gaps of the methods{at}", notes=[note])


def _planned_tests(comparison: MethodComparison, at: str) -> Table:
    """Return the spread over seeds, and every method against the baseline that was given."""
    title = f"Spread over seeds, and tests against {comparison.baseline}{at}"
    return Table(headings=PLANNED, rows=comparison.rows(PLANNED), title=title, notes=comparison.notes()[-1:])


def _chosen_tests(comparison: MethodComparison, pairs: pd.DataFrame, at: str) -> Table:
    """Return the spread over seeds, and every method against the best one, which was picked by its result."""
    best = comparison.baseline
    if best is None:
        note = "There is nothing to test: no two methods with a gap in every run."
        return Table(headings=SPREAD, rows=comparison.rows(SPREAD), title=f"Spread over seeds{at}", notes=[note])
    tests = against(pairs, best)
    chosen = PLANNED[:-3]
    rows = []
    for texts in comparison.rows(chosen):
        test = tests.loc[texts[0]] if texts[0] in tests.index else {}
        p_value, adjusted, effect = (known(test.get(name)) for name in ("p_value", "holm_p_value", "effect"))
        rows.append([*texts, p_text(p_value), p_text(adjusted), decimal(effect)])
    note = (
        f"{best} was picked for its smallest mean gap after the runs were made. Therefore p Holm is corrected for all "
        f"{len(pairs)} pairs of methods, not for its {len(tests)} rivals only; the intervals are not corrected for the "
        f"choice. diff: median over instances of the mean gap less that of {best}, in percentage points, with a "
        "bootstrap interval (percentiles, instances drawn); p: two-sided Wilcoxon signed-rank test over instances, "
        f"zeros by Pratt; effect: rank-biserial, above 0 where {best} is better."
    )
    return Table(
        headings=[*chosen, "p", "p Holm, all pairs", "effect"],
        rows=rows,
        title=f"Spread over seeds, and tests against {best}{at}",
        notes=[note],
    )


def _all_pairs(comparison: MethodComparison, pairs: pd.DataFrame, at: str) -> Table:
    """Return the tests of all pairs as a matrix, best median first."""
    labels = [row.label for row in comparison.methods]
    rows = []
    for number, label in enumerate(labels, 1):
        tests = against(pairs, label)
        row = [f"{number} {label}"]
        for other in labels:
            if other == label:
                row.append("")
                continue
            p_value, effect = known(tests.loc[other, "holm_p_value"]), tests.loc[other, "effect"]
            differs = p_value is not None and p_value <= LEVEL
            row.append(Shaded(p_text(p_value), (BETTER if effect > 0 else WORSE) if differs else ""))
        rows.append(row)
    note = (
        f"p of two-sided Wilcoxon signed-rank tests over instances after Holm's correction for all {len(pairs)} "
        f"pairs. Green: the method of the row has smaller gaps at the level {LEVEL}; red: larger ones. Columns are "
        "numbered as rows are."
    )
    headings = ["method", *(str(number) for number in range(1, len(labels) + 1))]
    return Table(headings=headings, rows=rows, title=f"Every pair of methods{at}", notes=[note])


def _by_instance(gaps: StudyGaps, comparison: MethodComparison, at: str) -> Table:
    """Return the mean gap of every method on every instance, best median first."""
    labels = [row.label for row in comparison.methods]
    means, proven = gaps.mean_gaps(), gaps.references["is_optimum"]
    rows = []
    for name in gaps.instances:
        cells = [known(float(means.loc[name, label])) for label in labels]
        shown = [Shaded(percent(gap), gap_colour(gap)) for gap in cells]
        rows.append([name if proven[name] else f"{name} *", *shown])
    note = "In percent, the mean over repetitions; a dash where a method has no schedule."
    if not gaps.is_proven:
        note += " *: the optimum is not proven, and the gap is to the best proven bound."
    return Table(headings=["instance", *labels], rows=rows, title=f"Gaps by instance{at}", notes=[note])


def _jct(frame: pd.DataFrame, budget: str, baseline: str | None) -> list[Table]:
    """Return how long jobs took, what they lost and waited; nothing in studies of other problems."""
    tables = jct_tables(frame, budget) if "jct_mean" in frame.columns else []
    if tables and baseline is not None:
        tables.append(jct_test_table(frame, baseline, budget))
    return [*tables, *interference_tables(frame, budget)] if tables else []


def _tables_part(title: str, identifier: str, anchor: str, tables: list[Table]) -> list[Section]:
    """Return a section with some tables, none without any."""
    blocks = [PageTable(table, f"{anchor}-{slug(table.name)}-table") for table in tables]
    return [Section(title=title, identifier=identifier, blocks=blocks)] if blocks else []


COLUMNS = ("family", "tasks", "jobs", "gpus", "cluster", "ccr", "load", "heterogeneity")
"""Columns by which instances are grouped, where the frame has them and they differ."""

MOST_GROUPS = 12
"""With more values than this a table by value would be the list of instances."""


def groups_part(frame: pd.DataFrame, comparison: MethodComparison, baseline: str | None, anchor: str) -> list[Section]:
    """Compare the methods within every family, size and so on.

    Parameters
    ----------
    comparison
        The comparison over all instances.
    baseline
        Label that the others are tested against within groups, None for no tests.
    anchor
        The beginning of all identifiers.

    Returns
    -------
    list[Section]
        One section, or none where no column tells the instances apart.
    """
    grouped, remarks = [], []
    for column in COLUMNS:
        if column not in frame.columns:
            continue
        values = frame.groupby("instance", sort=False)[column].first()  # the first that is known
        if values.nunique() < 2:
            continue
        if values.isna().any():
            remarks.append(f"Not grouped by {column}: {int(values.isna().sum())} instances have no value.")
        elif values.nunique() > MOST_GROUPS:
            remarks.append(f"Not grouped by {column}: there are {values.nunique()} values.")
        else:
            grouped.append(grouped_comparison(frame, column, budget=comparison.budget, baseline=baseline))
    if not grouped and not remarks:
        return []
    at = "" if comparison.budget == "-" else f" at {comparison.budget}"
    remarks += dict.fromkeys(note for group in grouped for note in group.notes())
    blocks: list[Block] = [_by_group(grouped, comparison, anchor, at)] if grouped else []
    return [Section(title=f"By kind of instance{at}", identifier=f"{anchor}-groups", blocks=[*blocks, Notes(remarks)])]


def _by_group(grouped: list[GroupedComparison], comparison: MethodComparison, anchor: str, at: str) -> PageTable:
    """Return the mean gaps in all groups side by side."""
    texts = [{row[0]: row[1:] for row in group.rows()} for group in grouped]
    rows = []
    for label in (row.label for row in comparison.methods):
        cells = [label]
        for group, of_label in zip(grouped, texts, strict=True):
            for cell, part in zip(of_label[label], group.groups.values(), strict=True):
                mean = next((row.mean_gap for row in part.methods if row.label == label), None)
                cells.append(Shaded(cell, "" if mean is None else gap_colour(mean)))
        rows.append(cells)
    counts = [str(part.num_instances) for group in grouped for part in group.groups.values()]
    headings = ["method", *(value for group in grouped for value in group.groups)]
    table = Table(
        headings=headings,
        rows=[*rows, ["number of instances", *counts]],
        num_footers=1,
        numbers=headings[1:],
        title=f"Mean gaps in % by kind of instance{at}",
        notes=["Over runs; every group of columns holds all instances."],
    )
    groups = [("", 1), *((group.column, len(group.groups)) for group in grouped)]
    return PageTable(table, f"{anchor}-by-kind", groups)
