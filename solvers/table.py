"""The table: headings, rows, notes and numbers, and the one way to print them in every form."""

from __future__ import annotations

import csv
import io
import math
import re
import shutil
import sys
import textwrap
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from solvers.run.versions import version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    import pandas as pd
    from jinja2 import Template


class Column(NamedTuple):
    """How a column of a table is made from a record.

    Parameters
    ----------
    field
        Key of the record, or a function of the record.
    show
        Returns the text of a value.
    is_number
        Whether the column is aligned on the right.
    """

    heading: str
    field: str | Callable[[Any], Any]
    show: Callable[[Any], str] = str
    is_number: bool = False

    def cell(self, record: Any) -> str:
        """Return the text of the column for a record."""
        return self.show(record[self.field] if isinstance(self.field, str) else self.field(record))


class Shaded(str):
    """The text of a cell that has a colour behind it in HTML; other forms show the text alone."""

    colour: str

    def __new__(cls, text: str, colour: str) -> Self:
        """Return the text with its colour, which may be empty."""
        cell = super().__new__(cls, text)
        cell.colour = colour
        return cell


class Tabular:
    """Base class of everything that is shown as one table: the forms of that table."""

    __slots__ = ()

    def table(self) -> Table:
        """Return the table."""
        raise NotImplementedError

    def to_text(self) -> str:
        """Return the table for the terminal."""
        return self.table().to_text()

    def to_markdown(self) -> str:
        """Return the table in Markdown with its notes below."""
        return self.table().to_markdown()

    def to_latex(self) -> str:
        """Return the table for the package booktabs, with its title and the version of optgap in a comment."""
        return self.table().to_latex()

    def to_csv(self) -> str:
        """Return the unrounded numbers as CSV with one heading line; an unknown value is empty."""
        return self.table().to_csv()

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers of `to_csv` as a data frame; an unknown value is NaN or None."""
        return self.table().to_frame()

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON values."""
        return self.table().to_dict()

    def __str__(self) -> str:
        """Show the table as on the terminal."""
        return self.to_text()

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        return self.table().to_html(is_styled=True)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Table(Tabular):
    """A table of texts, with the numbers behind them.

    Parameters
    ----------
    numbers
        Headings of the columns that are aligned on the right; by default all but the first.
    num_footers
        How many of the last rows are totals, which LaTeX sets below a second rule.
    bold
        Index of a row that stands out on the terminal.
    notes
        Paragraphs below the table.
    records
        The numbers behind the texts, unrounded: one mapping per line of CSV, all with the same keys.
    fields
        Keys of the records, for tables that may have none.
    name
        Key of the table in JSON.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Collection[str] | None = None
    num_footers: int = 0
    bold: int | None = None
    title: str = ""
    notes: Sequence[str] = ()
    records: Sequence[Mapping[str, object]] = ()
    fields: Sequence[str] = ()
    name: str = ""

    def __post_init__(self) -> None:
        """Keep headings, rows and notes as tuples."""
        object.__setattr__(self, "headings", tuple(self.headings))
        object.__setattr__(self, "rows", tuple(tuple(row) for row in self.rows))
        object.__setattr__(self, "notes", tuple(self.notes))

    @classmethod
    def of(cls, columns: Sequence[Column], items: Iterable[Any], /, **others: Any) -> Table:
        """Return a table with one row per item; the other arguments are those of the class."""
        return cls(
            headings=[column.heading for column in columns],
            rows=[[column.cell(item) for column in columns] for item in items],
            numbers=[column.heading for column in columns if column.is_number],
            **others,
        )

    @property
    def is_number(self) -> list[bool]:
        """Whether each column is aligned on the right."""
        if self.numbers is None:
            return [column > 0 for column in range(len(self.headings))]
        return [heading in self.numbers for heading in self.headings]

    def table(self) -> Table:
        """Return the table itself."""
        return self

    def to_text(self) -> str:
        """Return the table as wide as the terminal at most, which has 80 columns where there is none.

        Long texts are wrapped between words, those of numbers and of the first column last. Where a word would be cut,
        or a row would need more than `MOST_LINES`, the last columns are left out and named below the table; within
        `wide_tables` none is, and nothing is wrapped.
        """
        from rich.box import HORIZONTALS
        from rich.console import Console
        from rich.table import Table as Grid
        from rich.text import Text

        grid = Grid(box=HORIZONTALS, pad_edge=False, padding=(0, 1, 0, 0))
        width = sys.maxsize if _is_wide.get() else min(shutil.get_terminal_size((80, 24)).columns, MAX_WIDTH)
        texts = [[printable(cell) for cell in row] for row in (self.headings, *self.rows)]
        cells, widths = _fitting(texts, self.is_number, width - BORDER)
        left_out = self.headings[len(widths) :]
        notes = [*self.notes, *([f"Not shown: {', '.join(left_out)}; --wide shows every column."] if left_out else [])]
        for heading, right, columns in zip(cells[0], self.is_number, widths, strict=False):
            grid.add_column(
                Text(_wrapped(heading, columns)), justify="right" if right else "left", width=columns, overflow="fold"
            )
        for index, row in enumerate(cells[1:]):
            shown = (Text(_wrapped(cell, columns)) for cell, columns in zip(row, widths, strict=True))
            grid.add_row(*shown, style="bold" if index == self.bold else None)
        width = min(width, max(sum(widths) + BETWEEN * len(widths) + BORDER, len(self.title), NOTE_WIDTH))
        console = Console(file=io.StringIO(), width=width, force_terminal=sys.stdout.isatty())
        with console.capture() as captured:
            if self.title:
                console.print(Text(printable(self.title), style="bold"))
            console.print(grid)
            for note in notes:
                for line in textwrap.wrap(printable(note), NOTE_WIDTH, break_on_hyphens=False):
                    console.print(Text(line))
        return "\n".join(line.rstrip() for line in captured.get().rstrip().splitlines())

    def to_markdown(self) -> str:
        """Return the table as GitHub shows it, with its title above and its notes in a list below."""
        sides = ["---:" if is_number else "---" for is_number in self.is_number]
        lines = [[markdown_text(heading) for heading in self.headings], sides]
        lines += [[markdown_text(cell) for cell in row] for row in self.rows]
        title = [f"**{markdown_text(self.title)}**\n"] if self.title else []
        notes = ["", *(f"- {markdown_text(note)}" for note in self.notes)] if self.notes else []
        return "\n".join([*title, *(f"| {' | '.join(line)} |" for line in lines), *notes]) + "\n"

    def to_latex(self, headings: Mapping[str, str] | None = None, comments: Sequence[str] = ()) -> str:
        """Return the table for the package booktabs.

        Parameters
        ----------
        headings
            Other headings for some of the columns, already LaTeX.
        comments
            Lines before the table that LaTeX skips, below one with the title and the version of optgap.
        """
        given, is_number = headings or {}, self.is_number
        rows = [
            _latex_row([latex_number(cell) if right else latex_text(cell) for cell, right in zip(row, is_number)])
            for row in self.rows
        ]
        end = len(rows) - self.num_footers
        lines = [
            *(f"% {' '.join(text.split())}" for text in (f"{self.title}; optgap {version_of('optgap')}", *comments)),
            rf"\begin{{tabular}}{{{''.join('r' if right else 'l' for right in is_number)}}}",
            r"\toprule",
            _latex_row([given.get(heading, latex_text(heading)) for heading in self.headings]),
            r"\midrule",
            *rows[:end],
            *([r"\midrule", *rows[end:]] if self.num_footers else []),
            r"\bottomrule",
        ]
        for note in self.notes:
            for line in textwrap.wrap(note, LATEX_NOTE_WIDTH):
                lines.append(rf"\multicolumn{{{len(is_number)}}}{{l}}{{\footnotesize {_latex_note(line)}}} \\")
        return "\n".join([*lines, r"\end{tabular}"]) + "\n"

    def to_csv(self) -> str:
        """Return the records, or the texts where there are none, with one heading line."""
        return csv_text(self._records(), self.fields or self.headings)

    def to_frame(self) -> pd.DataFrame:
        """Return the lines of `to_csv` as a data frame."""
        import pandas as pd

        return pd.DataFrame.from_records(self._records(), columns=None if self._records() else list(self.fields))

    def to_dict(self) -> dict[str, Any]:
        """Return title, notes and records as JSON values; None for what is unknown or infinite."""
        return {
            "table": self.name,
            "title": self.title,
            "rows": [{key: _json_value(value) for key, value in record.items()} for record in self._records()],
            "notes": list(self.notes),
        }

    def to_html(self, *, identifier: str = "", groups: Sequence[tuple[str, int]] = (), is_styled: bool = False) -> str:
        """Return the table as HTML: a single note stands in the caption, several form a list below the table.

        Parameters
        ----------
        identifier
            Of the table in its page, for links to it.
        groups
            Headings above the headings, each with the number of columns below it.
        is_styled
            Whether columns of numbers are aligned by the table itself instead of by the style of a page.
        """
        is_number = self.is_number
        starts = {sum(span for _, span in groups[:number]) for number in range(1, len(groups))}

        def attributes(column: int, cell: str = "") -> dict[str, str | None]:
            classes = ["number"] * is_number[column] + ["first"] * (column in starts)
            classes = classes or ["long"] * (column > 0 and len(cell) > LONG)
            colour = getattr(cell, "colour", "")
            styles = [f"text-align:{'right' if is_number[column] else 'left'}"] * is_styled
            styles += [f"background:{colour}"] * bool(colour)
            return {"class": " ".join(classes) or None, "style": ";".join(styles) or None}

        return _template().render(table=self, identifier=identifier, groups=groups, attributes=attributes)

    def _records(self) -> list[Mapping[str, object]]:
        """Return the records, or the texts as records where there are none."""
        if self.records or self.fields:
            return list(self.records)
        return [dict(zip(self.headings, row, strict=True)) for row in self.rows]

    def __repr__(self) -> str:
        """Name the table in one line."""
        return f"<Table: {self.title}, {len(self.rows)} rows>"


# ---------------------------------------------------------------------------------------------------------------- text

MAX_WIDTH = 100
"""Wider tables are hard to read, however wide the terminal is."""

NOTE_WIDTH = 78
"""Columns of the terminal that a note may take."""

BORDER, BETWEEN = 2, 2
"""Columns of the terminal that the frame takes, and that lie between two columns of a table."""

MOST_LINES = 3
"""Lines that a row may take before columns are left out."""

_is_wide = ContextVar("is_wide", default=False)


@contextmanager
def wide_tables(is_wide: bool = True) -> Iterator[None]:
    """Show every column of tables as texts, each row on one line, however wide the terminal is."""
    token = _is_wide.set(is_wide)
    try:
        yield
    finally:
        _is_wide.reset(token)


def printable(text: str) -> str:
    """Escape characters that would steer a terminal or cannot be encoded, because names in files are free text."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def _fitting(
    cells: Sequence[Sequence[str]], is_number: Sequence[bool], total: int
) -> tuple[Sequence[Sequence[str]], list[int]]:
    """Return the columns that fit, with their widths: as many as leave words whole and rows short, at least two.

    Where no number of columns does both, as many as leave words whole; where none does that, all of them. Below the
    heading of a column of numbers a text is a word, such as ``[0.5, 1]``.
    """
    columns = list(zip(*cells, strict=True))
    words = [
        max(len(word) for row, text in enumerate(texts) for word in ([text] if right and row else text.split() or [""]))
        for texts, right in zip(columns, is_number, strict=True)
    ]
    short = [_short_width(texts, word) for texts, word in zip(columns, words, strict=True)]
    for least in (short, words):
        for number in range(len(columns), min(2, len(columns)) - 1, -1):
            room = total - BETWEEN * (number - 1)
            if sum(least[:number]) <= room:
                part = [row[:number] for row in cells]
                return part, _widths(part, is_number[:number], least[:number], room)
    return cells, _widths(cells, is_number, [1] * len(columns), total - BETWEEN * (len(columns) - 1))


def _short_width(texts: Sequence[str], least: int) -> int:
    """Return the least width of a column, at least that of its longest word, in which no text takes too many lines."""
    for text in texts:
        if len(text) > least:
            least = max(least, -(-len(text) // MOST_LINES))
            while len(_lines(text, least)) > MOST_LINES:
                least += 1
    return least


def _widths(cells: Sequence[Sequence[str]], is_number: Sequence[bool], least: Sequence[int], total: int) -> list[int]:
    """Return the widths of columns: as wide as their texts, or narrower where the total is not enough.

    The widest gives way first: of the columns but the first and those of numbers down to the least, then of all.
    """
    columns = range(len(is_number))
    widths = [max(map(len, texts)) for texts in zip(*cells, strict=True)]
    kept = [widths[column] if column == 0 or is_number[column] else least[column] for column in columns]
    for lowest in (kept, least):
        while sum(widths) > total:
            column = max(
                (column for column in columns if widths[column] > lowest[column]), key=widths.__getitem__, default=None
            )
            if column is None:
                break
            widths[column] -= 1
    return widths


def _lines(text: str, columns: int) -> list[str]:
    """Wrap a text between words; a longer word is a line of its own."""
    return textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False)


def _wrapped(text: str, columns: int) -> str:
    """Put line ends where a text is longer than its column; a word that is longer itself is cut, at hyphens first."""
    if len(text) <= columns:
        return text
    lines = _lines(text, columns)
    if max(map(len, lines)) > columns:
        lines = textwrap.wrap(text, columns, break_long_words=False)
    return "\n".join(line[at : at + columns] for line in lines for at in range(0, len(line), columns))


def markdown_text(text: str) -> str:
    """Return a text that Markdown shows unchanged, in a cell too."""
    for sign in "\\|*_`":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.replace("&", "&amp;").replace("<", "&lt;").split())


# --------------------------------------------------------------------------------------------------------------- LaTeX

LATEX_NOTE_WIDTH = 100
"""Letters per line of a note below a LaTeX table."""

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "{''}",
    "`": "{`}",
    # At the start of a row these would be taken for options of the command that ends the row before.
    "[": "{[}",
    "*": "{*}",
}

DAGGER = "\N{DAGGER}"

_MARKED = re.compile(f"(?P<body>.*[0-9])?(?P<marks>[+*{DAGGER}]+)")
"""A number with marks, or the marks alone."""


def latex_text(text: str) -> str:
    """Return a text that LaTeX shows unchanged; control characters become spaces, because names are free text."""
    escaped = "".join(_ESCAPED.get(letter, letter if letter.isprintable() else " ") for letter in text)
    while "--" in escaped:  # no ligatures: two hyphens stay two hyphens
        escaped = escaped.replace("--", "-{}-")
    return escaped


def latex_number(text: str) -> str:
    """Return a cell with a number as LaTeX: a dash for an unknown one, signs as in formulas, marks raised."""
    if text == "-":
        return "--"
    if text[:1] in ("+", "-", "[") and text[1:2] not in ("", " "):
        return f"${text.replace('<', '{<}')}$"
    marked = _MARKED.fullmatch(text)
    return f"{latex_text(marked['body'] or '')}{_raised(marked['marks'])}" if marked else latex_text(text)


def latex_heading(text: str) -> str:
    """Return a narrow heading: a new line begins after every hyphen."""
    pieces = [latex_text(piece) for piece in text.split("-")]
    return pieces[0] if len(pieces) == 1 else r"\shortstack[r]{" + r"-\\".join(pieces) + "}"


def _raised(marks: str) -> str:
    """Return marks as an exponent."""
    shown = marks.replace(DAGGER, r"\dagger")
    return f"$^{{{shown}}}$"


def _latex_note(line: str) -> str:
    """Return a line of a note, with the mark that it explains raised."""
    mark, blank, rest = line.partition(" ")
    is_mark = blank and set(mark) <= {"*", DAGGER}
    return f"{_raised(mark)} {latex_text(rest)}" if is_mark else latex_text(line)


def _latex_row(cells: Sequence[str]) -> str:
    """Return one row of a LaTeX table."""
    return " & ".join(cells) + r" \\"


# ------------------------------------------------------------------------------------------------- CSV, JSON and HTML

LONG = 24
"""Cells with more characters get a column of readable width in HTML."""


def csv_text(records: Sequence[Mapping[str, object]], fields: Sequence[str] = ()) -> str:
    """Return records with the same keys as CSV; the fields are the heading line where there is no record."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0] if records else fields), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: "" if value != value else value for key, value in record.items()} for record in records)
    return text.getvalue()


def _json_value(value: object) -> object:
    """Return a value, which may be one of NumPy, as JSON knows it."""
    item = getattr(value, "item", None)
    plain = value if item is None else item()
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


@cache
def _template() -> Template:
    """Load the template of HTML tables."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("solvers", "."), autoescape=True, undefined=StrictUndefined)
    environment.filters["printable"] = printable
    return environment.get_template("table.html.j2")
