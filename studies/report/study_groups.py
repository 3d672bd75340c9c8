"""Gaps within groups of instances: families, sizes, ratios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.report.gap_colour import gap_colour
from studies.report.page import notes, table
from studies.report.section import Section
from studies.statistics.grouped_comparison import grouped_comparison

if TYPE_CHECKING:
    import pandas as pd

    from studies.statistics.comparison import Comparison
    from studies.statistics.grouped_comparison import GroupedComparison

COLUMNS = ("family", "tasks", "jobs", "gpus", "cluster", "ccr", "load", "heterogeneity")
"""By which instances are grouped where the frame has the column and it tells instances apart."""

MOST_GROUPS = 12
"""With more values than this a table by value would be the list of instances."""


def groups_part(frame: pd.DataFrame, comparison: Comparison, baseline: str | None, anchor: str) -> list[Section]:
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


def _table(grouped: list[GroupedComparison], comparison: Comparison, anchor: str, at: str) -> str:
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
