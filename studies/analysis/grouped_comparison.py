"""Comparisons within groups of instances, and the table that puts them side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from instances.fields import one_of
from solvers.table import NOTE_WIDTH, Table, Tabular
from studies.analysis.comparison import COLUMNS
from studies.analysis.gap_statistics import grouping_column
from studies.analysis.ranks import LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from studies.analysis.comparison import MethodComparison, MethodSummary


WORSE, BETTER = "+", "*"
"""Marks: significantly larger gaps than the baseline, significantly smaller ones."""


class Shown(NamedTuple):
    """A statistic that a table by groups may show."""

    title: str
    cell: Callable[[MethodSummary], str]


SHOWN = {
    "mean": Shown("Mean gaps", COLUMNS["mean %"]),
    "median": Shown("Median gaps", COLUMNS["med %"]),
    "q25": Shown("Lower quartiles of the gaps", COLUMNS["q25 %"]),
    "q75": Shown("Upper quartiles of the gaps", COLUMNS["q75 %"]),
    "q90": Shown("90 % points of the gaps", COLUMNS["q90 %"]),
    "worst": Shown("Worst gaps", COLUMNS["worst %"]),
    "optimal": Shown("Runs that reach the proven optimum", COLUMNS["opt %"]),
}
"""By the name of the option."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class GroupedComparison(Tabular):
    """One comparison per value of a column.

    Parameters
    ----------
    column
        By which the instances are grouped.
    budget, baseline
        As in each comparison.
    statistic
        Which gap the table shows: one of `SHOWN`.
    groups
        Value of the column, as text, to the comparison of its instances, values ascending.
    """

    column: str
    budget: str
    baseline: str | None
    statistic: str = "mean"
    groups: dict[str, MethodComparison]

    def __getitem__(self, value: str) -> MethodComparison:
        """Return the comparison of a group."""
        return self.groups[value]

    @property
    def title(self) -> str:
        """Say what is compared."""
        budget = "" if self.budget == "-" else f" at {self.budget}"
        return f"{SHOWN[self.statistic].title} in % by {self.column}{budget}"

    def headings(self) -> list[str]:
        """Return the headings of `rows`."""
        return ["method", *self.groups]

    def rows(self) -> list[list[str]]:
        """Return one row of gaps per method, with marks, and two with the numbers of instances and proven optima."""
        labels = dict.fromkeys(row.label for comparison in self.groups.values() for row in comparison.methods)
        groups = self.groups.values()
        counts = ["instances", *(str(comparison.num_instances) for comparison in groups)]
        proven = ["optima proven", *(str(comparison.num_proven) for comparison in groups)]
        cells = [[label, *(_cell(group, label, self.statistic) for group in groups)] for label in labels]
        return [*cells, counts, proven]

    def notes(self) -> list[str]:
        """Say what the marks mean and what is missing."""
        notes = []
        if self.baseline is not None:
            notes.append(
                f"Marks: {WORSE} worse, {BETTER} better than {self.baseline}; two-sided Wilcoxon signed-rank test at "
                f"{LEVEL} after Holm's correction over the rivals within each group."
            )
            powerless = {
                value: group.least_holm_p_value
                for value, group in self.groups.items()
                if (group.least_holm_p_value or 0.0) > LEVEL
            }
            if powerless:
                which = ", ".join(f"{value} ({least:.2f})" for value, least in powerless.items())
                notes.append(
                    "No mark is possible in these groups, whatever the gaps: they have so few instances that the least "
                    f"p-value after the correction is above {LEVEL} (in brackets): {which}."
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

    def table(self) -> Table:
        """Return the table with one column per group."""
        return Table(
            headings=self.headings(),
            rows=self.rows(),
            num_footers=2,
            title=self.title,
            notes=self.notes(),
            records=self._records(),
        )

    def to_text(self) -> str:
        """Return the table for the terminal, in as many pieces one below the other as 80 columns need."""
        headings, rows = self.headings(), self.rows()
        pieces = _pieces(headings, rows)
        tables = (
            Table(
                headings=[headings[0], *(headings[column] for column in piece)],
                rows=[[row[0], *(row[column] for column in piece)] for row in rows],
                title=self.title if index == 0 else f"{self.title}, continued",
                notes=self.notes() if index == len(pieces) - 1 else (),
            )
            for index, piece in enumerate(pieces)
        )
        return "\n\n".join(table.to_text() for table in tables)

    def __repr__(self) -> str:
        """Name the comparison in one line."""
        return f"<GroupedComparison: {self.title}, {', '.join(self.groups)}>"

    def _records(self) -> list[dict[str, object]]:
        """Return one flat row per group and method."""
        return [
            {self.column: value, "budget": self.budget, "baseline": self.baseline, **row.record()}
            for value, comparison in self.groups.items()
            for row in comparison.methods
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the frames as JSON values."""
        return {
            "column": self.column,
            "budget": self.budget,
            "baseline": self.baseline,
            "statistic": self.statistic,
            "groups": {value: comparison.to_dict() for value, comparison in self.groups.items()},
        }


def grouped_comparison(
    frame: pd.DataFrame, column: str, *, budget: str | None = None, baseline: str | None = None, statistic: str = "mean"
) -> GroupedComparison:
    """Compare methods within every value of a column.

    Parameters
    ----------
    frame, budget, baseline
        As for `compare`.
    column
        Such as ``family``, ``tasks`` or ``ccr``; ``size`` for the one of sizes; several joined by ``+`` for all
        combinations of their values.
    statistic
        Which gap the table shows: one of `SHOWN`. All of them are in its CSV and JSON.

    Raises
    ------
    ValueError
        If there is no such column or statistic, or a value is missing; otherwise as `compare`.
    """
    from studies.analysis.comparison import compare_methods
    from studies.analysis.gaps import ANY_BUDGET, study_gaps

    one_of(statistic, SHOWN, "statistic")
    columns = [grouping_column(frame, name) for name in column.split("+")]
    for name in columns:
        if frame[name].isna().any():
            at = frame.loc[frame[name].isna(), "instance"].iloc[0]
            raise ValueError(f"{name}: expected a value for every instance, got none for {at!r}.")
    runs = study_gaps(frame, budget)
    groups = {}
    for values, part in frame[frame["instance"].isin(runs.instances)].groupby(columns, sort=True):
        there = set(part.loc[part["budget"].isin([runs.budget, ANY_BUDGET]), "label"])
        groups[", ".join(str(value) for value in values)] = compare_methods(
            part, budget=runs.budget, baseline=baseline if baseline in there else None
        )
    return GroupedComparison(
        column=" and ".join(columns), budget=runs.budget, baseline=baseline, statistic=statistic, groups=groups
    )


def _pieces(headings: list[str], rows: list[list[str]]) -> list[list[int]]:
    """Return the columns of numbers in pieces that fit next to the names, at least one column in each."""
    widths = [max(len(row[column]) for row in [headings, *rows]) for column in range(len(headings))]
    pieces: list[list[int]] = [[]]
    used = widths[0]
    for column in range(1, len(headings)):
        if pieces[-1] and used + 2 + widths[column] > NOTE_WIDTH:
            pieces.append([])
            used = widths[0]
        pieces[-1].append(column)
        used += 2 + widths[column]
    return pieces


def _cell(comparison: MethodComparison, label: str, statistic: str) -> str:
    """Return the gap of a method in a group, with its mark."""
    row = next((method for method in comparison.methods if method.label == label), None)
    if row is None:
        return "-"
    rival, mark = row.rivalry, ""
    if rival is not None and rival.holm_p_value is not None and rival.holm_p_value <= LEVEL:
        mark = WORSE if (rival.effect or 0.0) > 0 else BETTER
    return SHOWN[statistic].cell(row) + mark
