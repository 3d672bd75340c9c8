"""Methods of a study side by side: gaps, failures, stability, ranks and tests, in every form that a paper needs."""

from __future__ import annotations

import csv
import io
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from instances.html import html_grid
from solvers.latex import booktabs, latex_text
from solvers.versions import version_of
from studies.command_line.text_table import text_table
from studies.statistics.cell_text import p_text
from studies.statistics.comparison_columns import COLUMNS, RIVALRY_COLUMNS, SPREAD_COLUMNS
from studies.statistics.markdown_table import markdown_table, markdown_text
from studies.statistics.ranks import LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from studies.statistics.grouped_comparison import GroupedComparison
    from studies.statistics.method_summary import MethodSummary
    from studies.statistics.ranks import FriedmanTest

MAIN = ("method", "runs", "fail", "none", "opt %", "mean %", "med %", "q90 %", "worst %", "rank")
"""Columns of the first table; gaps in percent."""

STANDING = ("method", "IQR %", "range %", "pairs", "diff", "95 % interval", "p Holm", "effect")
"""Columns of the second: spread over seeds, and the method against the baseline."""

NOTE_WIDTH = 100
"""Letters per line of a note below a LaTeX table."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Comparison:
    """What `compare` found.

    Parameters
    ----------
    budget, baseline
        At which the methods ran, and against which they are tested (None: against none).
    methods
        By median gap, then mean, then label.
    num_instances, num_proven
        In the frame at that budget, and those whose optimum is proven.
    denominators
        What the gaps are measured against, in words.
    num_ranked_instances
        On which every ranked method has a gap.
    friedman, critical_difference
        Of the ranks; None where there is too little to say.
    incomplete
        Per label, on how many instances it has no gap although one is defined; labels without any are left out.
    partial
        Per label, on how many instances some of its runs have a gap and others have not; likewise.
    frame
        What all this was computed from, for `by`.
    """

    budget: str
    baseline: str | None
    methods: tuple[MethodSummary, ...]
    num_instances: int
    num_proven: int
    denominators: str
    num_ranked_instances: int
    friedman: FriedmanTest | None
    critical_difference: float | None
    incomplete: dict[str, int]
    partial: dict[str, int]
    frame: pd.DataFrame

    def __getitem__(self, label: str) -> MethodSummary:
        """Return the row of a method."""
        for method in self.methods:
            if method.label == label:
                return method
        raise KeyError(label)

    def by(self, column: str, statistic: str = "mean") -> GroupedComparison:
        """Compare within every value of a column of the frame; see `grouped_comparison`.

        Holm's correction is made within each group, over its rivals; over all groups together it would be stricter.
        """
        from studies.statistics.grouped_comparison import grouped_comparison

        return grouped_comparison(self.frame, column, budget=self.budget, baseline=self.baseline, statistic=statistic)

    @property
    def title(self) -> str:
        """Say what is compared."""
        budget = "" if self.budget == "-" else f" at {self.budget}"
        return f"Gaps on {self.num_instances} instances{budget}"

    def rows(self, columns: Sequence[str]) -> list[list[str]]:
        """Return one row of texts per method, under these headings of `COLUMNS`.

        Raises
        ------
        ValueError
            If there is no such column.
        """
        return [[cell(row) for cell in _cells(columns)] for row in self.methods]

    def notes(self) -> list[str]:
        """Say what the columns mean and over what they are taken; one paragraph per subject."""
        notes = [
            f"{self.denominators} Gaps are over runs. opt: runs that reach a proven optimum, of those where one is "
            "proven; q90: 90 % of the runs are at most that; fail: runs that ended in an error; none: runs without a "
            "schedule. Both have no gap."
        ]
        notes += [
            f"{label} has no gap on {count} of {self.num_instances} instances: its columns are over the others, and "
            "pairs are those that both methods have."
            for label, count in self.incomplete.items()
        ]
        notes += [
            f"{label} lacks some runs on {count} of {self.num_instances} instances: its means are over the others."
            for label, count in self.partial.items()
        ]
        notes.append(self._rank_note())
        notes.append(
            "IQR, range: interquartile range and worst less best over seeds, both over the bound, mean over instances; "
            "fixed: the method draws nothing at random."
        )
        if self.baseline is not None:
            notes.append(self._test_note())
        return [note for note in notes if note]

    def to_text(self) -> str:
        """Return two tables for the terminal, which fit 80 columns."""
        return "\n\n".join(
            [
                text_table(MAIN, self.rows(MAIN), title=self.title, numbers=MAIN[1:]),
                text_table(
                    self._standing(),
                    self.rows(self._standing()),
                    title="Spread over seeds" + ("" if self.baseline is None else f", and against {self.baseline}"),
                    numbers=STANDING[1:],
                    caption="\n".join(textwrap.fill(note, 78, break_on_hyphens=False) for note in self.notes()),
                ),
            ]
        )

    def __repr__(self) -> str:
        """Name the table."""
        return f"<Comparison: {self.title}, {len(self.methods)} methods, baseline {self.baseline}>"

    def __str__(self) -> str:
        """Show the tables for the terminal."""
        return self.to_text()

    def to_markdown(self, columns: Sequence[str] | None = None) -> str:
        """Return one table in Markdown with its notes below."""
        chosen = self._columns(columns)
        table = markdown_table(chosen, self.rows(chosen), numbers=chosen[1:])
        notes = "\n".join(f"- {markdown_text(note)}" for note in self.notes())
        return f"**{self.title}**\n\n{table}\n{notes}\n"

    def to_latex(self, columns: Sequence[str] | None = None) -> str:
        """Return a table for the package booktabs; versions stand in a comment, notes below it."""
        chosen = self._columns(columns)
        return booktabs(
            "l" + "r" * (len(chosen) - 1),
            [latex_text(heading) for heading in chosen],
            [[latex_cell(cell) for cell in row] for row in self.rows(chosen)],
            comments=[f"{self.title}; optgap {version_of('optgap')}"],
            notes=[latex_text(line) for note in self.notes() for line in textwrap.wrap(note, NOTE_WIDTH)],
        )

    def to_csv(self) -> str:
        """Return one line per method with every number unrounded, gaps and differences as fractions."""
        return csv_of(self._records())

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers of `to_csv` as a data frame, one row per method; NaN or None for what is not known."""
        import pandas as pd

        return pd.DataFrame(self._records())

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the frame as JSON values."""
        test = self.friedman
        return {
            "budget": self.budget,
            "baseline": self.baseline,
            "num_instances": self.num_instances,
            "num_proven": self.num_proven,
            "num_ranked_instances": self.num_ranked_instances,
            "denominators": self.denominators,
            "friedman": None if test is None else {"statistic": test.statistic, "p_value": test.p_value},
            "critical_difference": self.critical_difference,
            "incomplete": dict(self.incomplete),
            "partial": dict(self.partial),
            "methods": [row.record() for row in self.methods],
            "notes": self.notes(),
        }

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        columns = self._columns(None)
        caption = "\n".join(self.notes())
        return html_grid(columns, self.rows(columns), title=self.title, caption=caption, numbers=columns[1:])

    def _records(self) -> list[dict[str, object]]:
        """Return one flat row per method."""
        return [{"budget": self.budget, "baseline": self.baseline, **row.record()} for row in self.methods]

    def _standing(self) -> tuple[str, ...]:
        """Return the columns of the second table; without a baseline there are no tests."""
        return STANDING if self.baseline is not None else (STANDING[0], *SPREAD_COLUMNS)

    def _columns(self, columns: Sequence[str] | None) -> list[str]:
        """Return the columns asked for, or all that hold something."""
        chosen = [*MAIN, *self._standing()[1:]] if columns is None else list(columns)
        _cells(chosen)
        return [column for column in chosen if self.baseline is not None or column not in RIVALRY_COLUMNS]

    def _rank_note(self) -> str:
        """Say over what the ranks are, and which differences mean something."""
        if not self.num_ranked_instances:
            return "No ranks: there is no instance on which all methods have a gap."
        where = "the instance" if self.num_ranked_instances == 1 else f"the {self.num_ranked_instances} instances"
        note = f"rank: of the mean gap over seeds, averaged over {where} where all "
        left_out = [row.label for row in self.methods if row.average_rank is None]
        but = f" but {', '.join(left_out)}" if left_out else ""
        note += f"methods{but} have one"
        if self.critical_difference is not None:
            note += f"; ranks closer than {self.critical_difference:.2f} do not differ significantly (Nemenyi, {LEVEL})"
        if self.friedman is not None:
            note += f"; Friedman p {p_text(self.friedman.p_value)}"
        return f"{note}."

    def _test_note(self) -> str:
        """Say what was tested, and where so few instances can show nothing."""
        rivals = [row.rivalry for row in self.methods if row.rivalry is not None]
        tests = sum(rival.p_value is not None for rival in rivals)
        note = (
            f"diff: median over instances of the mean gap less that of {self.baseline}, in percentage points, with a "
            "bootstrap interval (percentiles, instances drawn); p Holm: two-sided Wilcoxon signed-rank test over "
            f"instances, zeros by Pratt, after Holm's correction for {tests} rivals; effect: rank-biserial, "
            f"above 0 where {self.baseline} is better."
        )
        pairs = max((rival.num_pairs for rival in rivals), default=0)
        least = tests * 2.0 ** (1 - pairs)
        if pairs and least > LEVEL:
            note += f" With {pairs} instances no smallest p can be below {min(1.0, least):.4f} after the correction."
        return note


def csv_of(records: Sequence[dict[str, object]]) -> str:
    """Return records of equal keys as CSV with one heading line; nothing for None."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]) if records else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def latex_cell(text: str) -> str:
    """Return a cell of ours as LaTeX: a long dash for what is not known, signs as in formulas."""
    if text == "-":
        return "--"
    if text[0] in "+-[" and text[1:2] not in ("", " "):
        return f"${text.replace('<', '{<}')}$"
    return latex_text(text)


def _cells(columns: Sequence[str]) -> list[Callable[[MethodSummary], str]]:
    """Return how the cells of these columns are written."""
    unknown = [column for column in columns if column not in COLUMNS]
    if unknown:
        raise ValueError(f"columns: expected some of {', '.join(COLUMNS)}, got {unknown[0]!r}.")
    return [COLUMNS[column] for column in columns]
