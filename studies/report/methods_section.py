"""Methods side by side at one budget: summary in sentences, table, tests, groups of instances, figures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from studies.analysis.comparison import compare_methods
from studies.analysis.gaps import ANY_BUDGET, study_gaps
from studies.analysis.grouped_comparison import grouped_comparison
from studies.analysis.online_summary import jct_test_table
from studies.analysis.paired_tests import against, all_pairs
from studies.analysis.ranks import LEVEL
from studies.report.jobs_tables import interference_tables, jct_tables
from studies.report.page import Section, details, gap_colour, known, notes, slug, table
from studies.report.page_figures import figures_html
from studies.report.study_figures import study_figures
from studies.report.study_tables import target_table
from studies.text import decimal, p_text, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from studies.analysis.comparison import MethodComparison, MethodSummary
    from studies.analysis.gaps import StudyGaps
    from studies.analysis.grouped_comparison import GroupedComparison


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


def _gap_table(comparison: MethodComparison, anchor: str, at: str) -> str:
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


def _standing(comparison: MethodComparison, pairs: pd.DataFrame, planned: str | None, anchor: str, at: str) -> str:
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


def _all_pairs(comparison: MethodComparison, pairs: pd.DataFrame, anchor: str, at: str) -> str:
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
    body = "\n".join(view.to_html(identifier=f"{anchor}-{slug(view.name)}-table") for view in views)
    return [Section(title=f"Job completion time{at}", identifier=f"{anchor}-jct", body=body)] if views else []


def _targets(gaps: StudyGaps, traces: pd.DataFrame, anchor: str, at: str) -> list[Section]:
    """Say how many runs come within given gaps, and after how long."""
    views = target_table(gaps, traces)
    body = "\n".join(view.to_html(identifier=f"{anchor}-{slug(view.name)}-table") for view in views)
    return [Section(title=f"Time to target{at}", identifier=f"{anchor}-time-to-target", body=body)] if views else []


MOST_NAMES = 6
"""Methods that are named one by one where they are all that is left."""


def best_method(comparison: MethodComparison) -> str | None:
    """Return the label with the smallest mean gap of those with a gap in every run where one is defined.

    Means over fewer instances or runs are means over other ones, and are not held against them. None where no method
    has all; of equal means the first in the comparison.
    """
    complete = complete_methods(comparison)
    return min(complete, key=lambda row: row.mean_gap or 0.0).label if complete else None


def complete_methods(comparison: MethodComparison) -> list[MethodSummary]:
    """Return the methods with a gap in every run where one is defined."""
    return [
        row
        for row in comparison.methods
        if row.mean_gap is not None and row.label not in comparison.incomplete and row.label not in comparison.partial
    ]


def study_summary(comparison: MethodComparison, pairs: pd.DataFrame, *, baseline: str | None = None) -> list[str]:
    """Say which method has the smallest mean gap, and what it can be told apart from.

    Parameters
    ----------
    comparison
        At one budget.
    pairs
        As `all_pairs` returns them, of the same runs.
    baseline
        The method that the comparison was planned for, and made with: then its own tests are told, corrected for its
        rivals. Without one the best method is picked by its result, and the tests are those corrected for all pairs.

    Returns
    -------
    list[str]
        Sentences.
    """
    best = best_method(comparison)
    lost = [row.label for row in comparison.methods if row not in complete_methods(comparison)]
    sentences = [] if best is None else [_best(comparison, best)]
    if best is None:
        sentences.append("No method has a gap in every run: none is called the best.")
    elif lost:
        sentences.append(f"Not in this choice, for they lack gaps in some runs: {_names(lost)}.")
    if baseline is not None:
        sentences += _of_baseline(comparison, baseline)
    elif best is not None and len(pairs):
        sentences += _of_best(comparison, against(pairs, best), best, len(pairs))
    return sentences


def _best(comparison: MethodComparison, best: str) -> str:
    """Name the smallest mean gap."""
    row = comparison[best]
    alike = [other.label for other in complete_methods(comparison) if other.mean_gap == row.mean_gap]
    who = f"{_names(alike)} {'has' if len(alike) == 1 else 'have'}"
    of = f" of {len(comparison.methods)} methods" if len(comparison.methods) > 1 else ""
    return (
        f"{who} the smallest mean gap{of}: {percent(row.mean_gap)} % (median {percent(row.median_gap)} %, worst "
        f"{percent(row.worst_gap)} %)."
    )


def _of_best(comparison: MethodComparison, tests: pd.DataFrame, best: str, num_tests: int) -> list[str]:
    """Say what the best method can be told apart from."""
    made = tests[tests["holm_p_value"].notna()]
    if not len(made):
        return []
    pairs = int(made["num_pairs"].max())
    if num_tests * 2.0 ** (1 - pairs) > LEVEL:
        return [_too_few(pairs, num_tests)]
    differs = made["holm_p_value"] <= LEVEL
    worse, better = made.index[differs & (made["effect"] > 0)], made.index[differs & (made["effect"] <= 0)]
    said = [
        _verdicts(
            f"At the level {LEVEL}, after Holm's correction for all {num_tests} pairs of methods",
            best,
            comparison,
            worse=list(worse),
            better=list(better),
            alike={label: float(made.loc[label, "holm_p_value"]) for label in made.index[~differs]},
        )
    ]
    return [*said, _caution(pairs)]


def _of_baseline(comparison: MethodComparison, baseline: str) -> list[str]:
    """Say what the baseline can be told apart from."""
    tests = {
        row.label: row.rivalry
        for row in comparison.methods
        if row.rivalry is not None and row.rivalry.holm_p_value is not None
    }
    if not tests:
        return []
    pairs = max(rival.num_pairs for rival in tests.values())
    own = f"The baseline {baseline} has a mean gap of {percent(comparison[baseline].mean_gap)} %."
    if len(tests) * 2.0 ** (1 - pairs) > LEVEL:
        return [own, _too_few(pairs, len(tests))]
    p_values = {label: rival.holm_p_value or 0.0 for label, rival in tests.items()}
    differs = [label for label, p_value in p_values.items() if p_value <= LEVEL]
    worse = [label for label in differs if (tests[label].effect or 0.0) > 0]
    said = _verdicts(
        f"At the level {LEVEL}, after Holm's correction for {len(tests)} rivals",
        baseline,
        comparison,
        worse=worse,
        better=[label for label in differs if label not in worse],
        alike={label: p_value for label, p_value in p_values.items() if label not in differs},
    )
    return [own, said, _caution(pairs)]


def _verdicts(
    opening: str,
    label: str,
    comparison: MethodComparison,
    *,
    worse: Sequence[str],
    better: Sequence[str],
    alike: dict[str, float],
) -> str:
    """Say what the tests of a method found."""
    found = []
    if alike:
        named = [
            f"{other} ({percent(comparison[other].mean_gap)} %, p {p_text(p_value)})"
            for other, p_value in sorted(alike.items(), key=lambda pair: (-pair[1], pair[0]))
        ]
        found.append(f"not distinguishable from those of {_names(named)}")
    if better:
        found.append(f"larger than those of {_names(better)}")
    if worse:
        is_rest = len(worse) > MOST_NAMES and (alike or better)
        which = f"the other {len(worse)} methods" if is_rest else _names(worse)
        found.append(f"smaller than those of {which}")
    said = [f"{opening}, the gaps of {label} are {found[0]}.", *(f"They are {more}." for more in found[1:])]
    return " ".join(said)


def _caution(pairs: int) -> str:
    """Say what was tested."""
    return (
        f"What was tested are mean gaps over seeds on {pairs} instances; not distinguishable means that these "
        "instances do not show a difference, not that there is none."
    )


def _too_few(pairs: int, num_tests: int) -> str:
    """Say that the tests can show nothing."""
    instances = "1 instance" if pairs == 1 else f"{pairs} instances"
    tests = "1 test" if num_tests == 1 else f"{num_tests} tests"
    least = min(1.0, num_tests * 2.0 ** (1 - pairs))
    return (
        f"With {instances} and {tests} no p after Holm's correction can be below {least:.4f}: these tests cannot show "
        "any difference between methods."
    )


def _names(labels: Sequence[str]) -> str:
    """Return names as a list in words; names may hold commas."""
    if any("," in label for label in labels):
        return "; ".join(labels)
    return " and ".join([part for part in (", ".join(labels[:-1]), *labels[-1:]) if part])


COLUMNS = ("family", "tasks", "jobs", "gpus", "cluster", "ccr", "load", "heterogeneity")
"""By which instances are grouped where the frame has the column and it tells instances apart."""

MOST_GROUPS = 12
"""With more values than this a table by value would be the list of instances."""


def groups_part(frame: pd.DataFrame, comparison: MethodComparison, baseline: str | None, anchor: str) -> list[Section]:
    """Compare the methods within every family, size and so on.

    Parameters
    ----------
    frame
        Runs at the budget.
    comparison
        Over all instances.
    baseline
        Label that the others are tested against within groups, None for no tests.
    anchor
        What identifiers begin with.

    Returns
    -------
    list[Section]
        One section, none where nothing tells the instances apart.
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
    body = f"{_table(grouped, comparison, anchor, at)}\n{notes(remarks)}" if grouped else notes(remarks)
    return [Section(title=f"By kind of instance{at}", identifier=f"{anchor}-groups", body=body)]


def _table(grouped: list[GroupedComparison], comparison: MethodComparison, anchor: str, at: str) -> str:
    """Show the mean gaps in all groups side by side."""
    texts = [{row[0]: row[1:] for row in group.rows()} for group in grouped]
    rows: list[list[str | tuple[str, str]]] = []
    for label in (row.label for row in comparison.methods):
        cells: list[str | tuple[str, str]] = [label]
        for group, of_label in zip(grouped, texts, strict=True):
            for cell, part in zip(of_label[label], group.groups.values(), strict=True):
                mean = next((row.mean_gap for row in part.methods if row.label == label), None)
                cells.append((cell, "" if mean is None else gap_colour(mean)))
        rows.append(cells)
    counts = [str(part.num_instances) for group in grouped for part in group.groups.values()]
    rows.append(["number of instances", *counts])
    headings = ["method", *(value for group in grouped for value in group.groups)]
    return table(
        headings,
        rows,
        numbers=headings[1:],
        caption=(f"Mean gaps in % by kind of instance{at}", "Over runs; every group of columns holds all instances."),
        identifier=f"{anchor}-by-kind",
        groups=[("", 1), *((group.column, len(group.groups)) for group in grouped)],
    )
