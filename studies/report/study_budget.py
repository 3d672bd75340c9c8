"""Methods side by side at one budget: table, tests, groups of instances, figures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from studies.figures.write_figures import study_figures
from studies.report.cells import known
from studies.report.gap_colour import gap_colour
from studies.report.page import details, notes, slug, table
from studies.report.section import Section
from studies.report.study_groups import groups_part
from studies.report.study_summary import best_method, study_summary
from studies.report.view_html import figures_html, view_html
from studies.statistics.all_pairs import against, all_pairs
from studies.statistics.cell_text import decimal, p_text
from studies.statistics.compare import compare
from studies.statistics.interference_table import interference_tables
from studies.statistics.jct_table import jct_tables
from studies.statistics.jct_tests import jct_test_table
from studies.statistics.ranks import LEVEL
from studies.statistics.study_gaps import ANY_BUDGET, study_gaps
from studies.statistics.target_table import target_table

if TYPE_CHECKING:
    import pandas as pd

    from studies.statistics.comparison import Comparison
    from studies.statistics.study_gaps import StudyGaps

GAPS = (
    "method",
    "inst",
    "runs",
    "fail",
    "none",
    "opt %",
    "mean %",
    "q25 %",
    "med %",
    "q75 %",
    "q90 %",
    "worst %",
    "rank",
    "seconds",
)
"""Columns of the first table."""

PLANNED = ("method", "IQR %", "range %", "pairs", "diff", "95 % interval", "p", "p Holm", "effect")
SPREAD = ("method", "IQR %", "range %")
"""Columns of the second table: with a baseline that was given, and without."""

BETTER, WORSE = "#d3f0da", "#fbd5c9"
"""Behind significant differences."""


def budget_section(frame: pd.DataFrame, traces: pd.DataFrame, budget: str, baseline: str | None) -> tuple[Section, str]:
    """Compare the methods at a budget.

    Parameters
    ----------
    frame, traces
        Of the study.
    budget
        One of the frame's, or `ANY_BUDGET`.
    baseline
        Label that the others are tested against; None takes the best and corrects for having picked it.

    Returns
    -------
    Section, str
        And what it says in words.
    """
    frame = frame[frame["budget"].isin([budget, ANY_BUDGET])]  # rows know the best bound over all budgets
    gaps = study_gaps(frame, budget)
    planned = baseline if baseline in gaps.labels else None
    comparison = compare(frame, budget=budget, baseline=planned)
    pairs = all_pairs(gaps)
    best = best_method(comparison)
    if planned is None and best is not None and len(gaps.labels) > 1:
        comparison = compare(frame, budget=budget, baseline=best)
    anchor = "results" if budget == ANY_BUDGET else f"results-{slug(budget)}"
    at = "" if budget == ANY_BUDGET else f" at {budget}"
    words = " ".join(study_summary(comparison, pairs, baseline=planned))
    if baseline is not None and planned is None:
        words = f"The baseline {baseline} has no run here. {words}"
    body = "\n".join(
        [
            _gap_table(comparison, anchor, at),
            _standing(comparison, pairs, planned, anchor, at),
            notes(replace(comparison, baseline=None).notes()),
            _all_pairs(comparison, pairs, anchor, at) if len(pairs) else "",
        ]
    )
    parts = [
        *groups_part(frame, comparison, planned, anchor),
        *_jct(frame, budget, planned, anchor, at),
        *_targets(gaps, traces, anchor, at),
        Section(
            title=f"Figures{at}",
            identifier=f"{anchor}-figures",
            body=figures_html(study_figures(gaps, traces), anchor, at),
        ),
    ]
    return Section(title=f"Results{at}", identifier=anchor, body=body, parts=tuple(parts)), words


def _gap_table(comparison: Comparison, anchor: str, at: str) -> str:
    """Show the gaps of every method."""
    rows: list[list[str | tuple[str, str]]] = []
    for texts, row in zip(comparison.rows(GAPS), comparison.methods, strict=True):
        cells: list[str | tuple[str, str]] = list(texts)
        for heading, gap in (("mean %", row.mean_gap), ("med %", row.median_gap)):
            column = GAPS.index(heading)
            cells[column] = (texts[column], gap_colour(gap))
        rows.append(cells)
    caption = (
        f"Gaps of the methods{at}",
        "By median gap. inst: instances with a gap; q25 to q90: quantiles; seconds: mean time of the method itself.",
    )
    return table(GAPS, rows, numbers=GAPS[1:], caption=caption, identifier=f"{anchor}-gaps")


def _standing(comparison: Comparison, pairs: pd.DataFrame, planned: str | None, anchor: str, at: str) -> str:
    """Show the spread over seeds, and every method against the baseline or the best."""
    identifier = f"{anchor}-tests"
    if planned is not None:
        return table(
            PLANNED,
            comparison.rows(PLANNED),
            numbers=PLANNED[1:],
            caption=(f"Spread over seeds, and tests against {planned}{at}", comparison.notes()[-1]),
            identifier=identifier,
        )
    best = comparison.baseline
    if best is None:
        return table(
            SPREAD,
            comparison.rows(SPREAD),
            numbers=SPREAD[1:],
            caption=(f"Spread over seeds{at}", "There is nothing to test: no two methods with a gap in every run."),
            identifier=identifier,
        )
    tests = against(pairs, best)
    chosen = ("method", "IQR %", "range %", "pairs", "diff", "95 % interval")
    rows = []
    for texts in comparison.rows(chosen):
        if texts[0] not in tests.index:
            rows.append([*texts, "-", "-", "-"])
            continue
        test = tests.loc[texts[0]]
        numbers = [known(test[name]) for name in ("p_value", "holm_p_value", "effect")]
        rows.append([*texts, p_text(numbers[0]), p_text(numbers[1]), decimal(numbers[2])])
    headings = [*chosen, "p", "p Holm, all pairs", "effect"]
    explanation = (
        f"{best} was picked for its smallest mean gap after the runs were made. Therefore p Holm is corrected for all "
        f"{len(pairs)} pairs of methods, not for its {len(tests)} rivals only; the intervals are not corrected for the "
        f"choice. diff: median over instances of the mean gap less that of {best}, in percentage points, with a "
        "bootstrap interval (percentiles, instances drawn); p: two-sided Wilcoxon signed-rank test over instances, "
        f"zeros by Pratt; effect: rank-biserial, above 0 where {best} is better."
    )
    caption = (f"Spread over seeds, and tests against {best}{at}", explanation)
    return table(headings, rows, numbers=headings[1:], caption=caption, identifier=identifier)


def _all_pairs(comparison: Comparison, pairs: pd.DataFrame, anchor: str, at: str) -> str:
    """Show the tests of all pairs as a matrix, best median first."""
    labels = [row.label for row in comparison.methods]
    rows: list[list[str | tuple[str, str]]] = []
    for number, label in enumerate(labels, 1):
        tests = against(pairs, label)
        row: list[str | tuple[str, str]] = [f"{number} {label}"]
        for other in labels:
            if other == label:
                row.append("")
                continue
            p_value, effect = known(tests.loc[other, "holm_p_value"]), tests.loc[other, "effect"]
            differs = p_value is not None and p_value <= LEVEL
            row.append((p_text(p_value), (BETTER if effect > 0 else WORSE) if differs else ""))
        rows.append(row)
    headings = ["method", *(str(number) for number in range(1, len(labels) + 1))]
    caption = (
        f"Every pair of methods{at}",
        f"p of two-sided Wilcoxon signed-rank tests over instances after Holm's correction for all {len(pairs)} "
        f"pairs. Green: the method of the row has smaller gaps at the level {LEVEL}; red: larger ones. Columns are "
        "numbered as rows are.",
    )
    shown = table(headings, rows, numbers=headings[1:], caption=caption, identifier=f"{anchor}-pairs")
    return details(f"Tests of all {len(pairs)} pairs of methods", shown)


def _jct(frame: pd.DataFrame, budget: str, baseline: str | None, anchor: str, at: str) -> list[Section]:
    """Say how long jobs took, what they lost and waited; nothing in studies of other problems."""
    views = jct_tables(frame, budget) if "jct_mean" in frame.columns else []
    if views and baseline is not None:
        views.append(jct_test_table(frame, baseline, budget))
    if views:
        views += interference_tables(frame, budget)
    body = "\n".join(view_html(view, f"{anchor}-{slug(view.name)}-table") for view in views)
    return [Section(title=f"Job completion time{at}", identifier=f"{anchor}-jct", body=body)] if views else []


def _targets(gaps: StudyGaps, traces: pd.DataFrame, anchor: str, at: str) -> list[Section]:
    """Say how many runs come within given gaps, and after how long."""
    views = target_table(gaps, traces)
    body = "\n".join(view_html(view, f"{anchor}-{slug(view.name)}-table") for view in views)
    return [Section(title=f"Time to target{at}", identifier=f"{anchor}-time-to-target", body=body)] if views else []
