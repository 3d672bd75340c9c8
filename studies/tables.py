"""A data frame of numbers and the table that shows them, in every form that a paper needs."""

from __future__ import annotations

import csv
import io
import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from instances.html import html_grid
from solvers.latex import booktabs, latex_text
from solvers.run.versions import version_of
from studies.text_tables import markdown_table, markdown_text, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class TableView:
    """Numbers unrounded, and as texts.

    Parameters
    ----------
    name
        Of what the numbers are about, in one word: the key of the table in JSON.
    title
        Above the table.
    frame
        Tidy: one row per thing measured, every number unrounded, shares as fractions.
    headings, rows
        Texts; the first columns name things, all others hold numbers.
    num_names
        How many of the columns name things.
    notes
        Below the table, a paragraph each.
    """

    name: str
    title: str
    frame: pd.DataFrame
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    num_names: int = 1

    def to_text(self) -> str:
        """Return the table for the terminal."""
        return text_table(
            self.headings,
            self.rows,
            title=self.title,
            numbers=self.headings[self.num_names :],
            caption="\n".join(textwrap.fill(note, 78, break_on_hyphens=False) for note in self.notes),
        )

    def to_markdown(self) -> str:
        """Return the table in Markdown with its notes below."""
        table = markdown_table(self.headings, self.rows, numbers=self.headings[self.num_names :])
        notes = "\n".join(f"- {markdown_text(note)}" for note in self.notes)
        return f"**{markdown_text(self.title)}**\n\n{table}\n{notes}\n"

    def to_latex(self) -> str:
        """Return the table for the package booktabs; versions stand in a comment, notes below it."""
        return booktabs(
            "l" * self.num_names + "r" * (len(self.headings) - self.num_names),
            [latex_text(heading) for heading in self.headings],
            [
                [
                    *(latex_text(cell) for cell in row[: self.num_names]),
                    *(latex_cell(cell) for cell in row[self.num_names :]),
                ]
                for row in self.rows
            ],
            comments=[f"{self.title}; optgap {version_of('optgap')}"],
            notes=[latex_text(line) for note in self.notes for line in textwrap.wrap(note, NOTE_WIDTH)],
        )

    def to_csv(self) -> str:
        """Return the numbers with one heading line; nothing for what is not known, inf for what never came."""
        text: str = self.frame.to_csv(index=False, lineterminator="\n")
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return title, notes and numbers as JSON values; None for what is not known or infinite."""
        records = self.frame.astype(object).to_dict("records")
        return {
            "table": self.name,
            "title": self.title,
            "rows": [{str(key): _json_value(value) for key, value in record.items()} for record in records],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        """Name the table."""
        return f"<TableView: {self.title}, {len(self.rows)} rows>"

    def __str__(self) -> str:
        """Show the table for the terminal."""
        return self.to_text()

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        caption, numbers = "\n".join(self.notes), self.headings[self.num_names :]
        return html_grid(self.headings, self.rows, title=self.title, caption=caption, numbers=numbers)


def _json_value(value: object) -> object:
    """Return a value of a data frame as JSON knows it."""
    item = getattr(value, "item", None)
    plain = value if item is None else item()
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


NOTE_WIDTH = 100
"""Letters per line of a note below a LaTeX table."""


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
