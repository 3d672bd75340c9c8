"""Comparisons within groups of instances, and the table that puts them side by side."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from instances.html import html_grid
from solvers.latex import booktabs, latex_text
from solvers.versions import version_of
from studies.command_line.text_table import text_table
from studies.percent import percent
from studies.statistics.comparison import NOTE_WIDTH, csv_of
from studies.statistics.markdown_table import markdown_table, markdown_text
from studies.statistics.ranks import LEVEL

if TYPE_CHECKING:
    import pandas as pd

    from studies.statistics.comparison import Comparison

WORSE, BETTER = "+", "*"
"""Marks: significantly larger gaps than the baseline, significantly smaller ones."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class GroupedComparison:
    """One comparison per value of a column.

    Parameters
    ----------
    column
        By which the instances are grouped.
    budget, baseline
        As in each comparison.
    groups
        Value of the column, as text, to the comparison of its instances, values ascending.
    """

    column: str
    budget: str
    baseline: str | None
    groups: dict[str, Comparison]

    def __getitem__(self, value: str) -> Comparison:
        """Return the comparison of a group."""
        return self.groups[value]

    @property
    def title(self) -> str:
        """Say what is compared."""
        budget = "" if self.budget == "-" else f" at {self.budget}"
        return f"Mean gaps in % by {self.column}{budget}"

    def headings(self) -> list[str]:
        """Return the headings of `rows`."""
        return ["method", *self.groups]

    def rows(self) -> list[list[str]]:
        """Return one row of mean gaps per method, with marks, and one with the numbers of instances."""
        labels = dict.fromkeys(row.label for comparison in self.groups.values() for row in comparison.methods)
        counts = ["instances", *(str(comparison.num_instances) for comparison in self.groups.values())]
        return [[label, *(_cell(group, label) for group in self.groups.values())] for label in labels] + [counts]

    def notes(self) -> list[str]:
        """Say what the marks mean and what is missing."""
        notes = []
        if self.baseline is not None:
            notes.append(
                f"Marks: {WORSE} worse, {BETTER} better than {self.baseline}; two-sided Wilcoxon signed-rank test at "
                f"{LEVEL} after Holm's correction over the rivals within each group."
            )
        for value, group in self.groups.items():
            lost = sum(row.num_failed + row.num_without_schedule for row in group.methods)
            if lost:
                total = sum(row.num_runs for row in group.methods)
                notes.append(f"{self.column} {value}: {lost} of {total} runs failed or have no schedule: no gap.")
            if group.incomplete:
                which = ", ".join(f"{label} ({count})" for label, count in group.incomplete.items())
                notes.append(f"{self.column} {value}: methods without any gap on some of the instances: {which}.")
        return notes

    def to_text(self) -> str:
        """Return the table for the terminal."""
        return text_table(
            self.headings(),
            self.rows(),
            title=self.title,
            caption="\n".join(textwrap.fill(note, 78, break_on_hyphens=False) for note in self.notes()),
            numbers=self.headings()[1:],
        )

    def __repr__(self) -> str:
        """Name the table."""
        return f"<GroupedComparison: {self.title}, {', '.join(self.groups)}>"

    def __str__(self) -> str:
        """Show the table for the terminal."""
        return self.to_text()

    def to_markdown(self) -> str:
        """Return the table in Markdown with its notes below."""
        table = markdown_table(self.headings(), self.rows(), numbers=self.headings()[1:])
        notes = "\n".join(f"- {markdown_text(note)}" for note in self.notes())
        return f"**{self.title}**\n\n{table}\n{notes}\n"

    def to_latex(self) -> str:
        """Return the table for the package booktabs."""
        *rows, counts = [["--" if cell == "-" else _latex(cell) for cell in row] for row in self.rows()]
        return booktabs(
            "l" + "r" * len(self.groups),
            [latex_text(heading) for heading in self.headings()],
            rows,
            footer=[counts],
            comments=[f"{self.title}; optgap {version_of('optgap')}"],
            notes=[latex_text(line) for note in self.notes() for line in textwrap.wrap(note, NOTE_WIDTH)],
        )

    def to_csv(self) -> str:
        """Return one line per group and method with every number unrounded."""
        return csv_of(
            [
                {self.column: value, "budget": self.budget, "baseline": self.baseline, **row.record()}
                for value, comparison in self.groups.items()
                for row in comparison.methods
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the frames as JSON values."""
        return {
            "column": self.column,
            "budget": self.budget,
            "baseline": self.baseline,
            "groups": {value: comparison.to_dict() for value, comparison in self.groups.items()},
        }

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        caption, numbers = "\n".join(self.notes()), self.headings()[1:]
        return html_grid(self.headings(), self.rows(), title=self.title, caption=caption, numbers=numbers)


def grouped_comparison(
    frame: pd.DataFrame, column: str, *, budget: str | None = None, baseline: str | None = None
) -> GroupedComparison:
    """Compare methods within every value of a column.

    Raises
    ------
    ValueError
        If there is no such column or one of its values is missing; otherwise as `compare`.
    """
    from studies.statistics.compare import compare
    from studies.statistics.study_gaps import study_gaps

    if column not in frame.columns:
        raise ValueError(f"by: expected one of {', '.join(frame.columns)}, got {column!r}.")
    if frame[column].isna().any():
        at = frame.loc[frame[column].isna(), "instance"].iloc[0]
        raise ValueError(f"{column}: expected a value for every instance, got none for {at!r}.")
    runs = study_gaps(frame, budget)
    groups = {}
    for value, part in frame[frame["instance"].isin(runs.instances)].groupby(column, sort=True):
        there = runs.runs.loc[runs.runs[column] == value, "label"]
        groups[str(value)] = compare(part, budget=runs.budget, baseline=baseline if baseline in set(there) else None)
    return GroupedComparison(column=column, budget=runs.budget, baseline=baseline, groups=groups)


def _cell(comparison: Comparison, label: str) -> str:
    """Return the mean gap of a method in a group, with its mark."""
    row = next((method for method in comparison.methods if method.label == label), None)
    if row is None:
        return "-"
    rival, mark = row.rivalry, ""
    if rival is not None and rival.holm_p_value is not None and rival.holm_p_value <= LEVEL:
        mark = WORSE if (rival.effect or 0.0) > 0 else BETTER
    return percent(row.mean_gap) + mark


def _latex(cell: str) -> str:
    """Return a cell with its mark raised."""
    body = cell.rstrip(WORSE + BETTER)
    mark = cell[len(body) :]
    return latex_text(body) + (f"$^{{{mark}}}$" if mark and body[:1].isdigit() else latex_text(mark))
