"""Tables for the terminal and in Markdown, and labels with texts in aligned lines."""

from __future__ import annotations

import io
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

from studies.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


MAX_WIDTH = 100
"""Wider tables are hard to read, whatever the terminal has room for."""

BORDER, BETWEEN = 2, 2
"""Columns of the terminal that the frame takes, and that lie between two columns of a table."""


def text_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    caption: str = "",
    numbers: Sequence[str] = (),
    bold: int | None = None,
) -> str:
    """Return a table as wide as the terminal at most, 80 columns where there is none.

    Parameters
    ----------
    headings, rows
        Texts; long ones are wrapped between words and after hyphens, those of the first column last; a word is cut only
        where the terminal has no room for it.
    title, caption
        Above and below; the caption may have several lines.
    numbers
        Headings of the columns that are aligned on the right, and wrapped only where there is no room.
    bold
        Row that stands out.
    """
    from rich.box import HORIZONTALS
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=HORIZONTALS, pad_edge=False, padding=(0, 1, 0, 0))
    width = min(shutil.get_terminal_size((80, 24)).columns, MAX_WIDTH)
    cells = [[printable(cell) for cell in row] for row in (headings, *rows)]
    is_number = [heading in numbers for heading in headings]
    widths = _widths(cells, is_number, room=width - BORDER - BETWEEN * (len(headings) - 1))
    for heading, right, columns in zip(cells[0], is_number, widths, strict=True):
        table.add_column(
            Text(_wrapped(heading, columns)), justify="right" if right else "left", width=columns, overflow="fold"
        )
    for index, row in enumerate(cells[1:]):
        texts = (Text(_wrapped(cell, columns)) for cell, columns in zip(row, widths, strict=True))
        table.add_row(*texts, style="bold" if index == bold else None)
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=sys.stdout.isatty(),
    )
    with console.capture() as captured:
        if title:
            console.print(Text(printable(title), style="bold"))
        console.print(table)
        for line in caption.splitlines():
            console.print(Text(printable(line)))
    return "\n".join(line.rstrip() for line in captured.get().rstrip().splitlines())


def _widths(cells: Sequence[Sequence[str]], is_number: Sequence[bool], room: int) -> list[int]:
    """Return the widths of columns: as wide as their texts, or narrower where there is no room.

    The widest gives way first: of the columns but the first and those of numbers down to the longest piece that must
    stay whole, then of all columns down to that, then without regard to pieces.
    """
    columns = range(len(is_number))
    whole = [max(map(len, texts)) for texts in zip(*cells, strict=True)]
    pieces = [max(len(piece) for text in texts for piece in _pieces(text)) for texts in zip(*cells, strict=True)]
    limits = [
        [whole[column] if column == 0 or is_number[column] else pieces[column] for column in columns],
        pieces,
        [1] * len(whole),
    ]
    widths = list(whole)
    for least in limits:
        while sum(widths) > room:
            column = max(
                (column for column in columns if widths[column] > least[column]), key=widths.__getitem__, default=None
            )
            if column is None:
                break
            widths[column] -= 1
    return widths


def _pieces(text: str) -> list[str]:
    """Return what must stay whole: words, cut after their hyphens."""
    return textwrap.wrap(text, 1, break_long_words=False) or [""]


def _wrapped(text: str, columns: int) -> str:
    """Put line ends where a text is longer than its column; only a piece that is longer itself is cut."""
    if len(text) <= columns:
        return text
    lines = textwrap.wrap(text, columns, break_long_words=False)
    return "\n".join(line[at : at + columns] for line in lines for at in range(0, len(line), columns))


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[str] = ()) -> str:
    """Return a table as GitHub shows it; the columns named in `numbers` are aligned on the right."""
    sides = ["---:" if heading in numbers else "---" for heading in headings]
    lines = [[markdown_text(heading) for heading in headings], sides]
    lines += [[markdown_text(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def markdown_text(text: str) -> str:
    """Return a text that Markdown shows as it is, in a cell too."""
    for sign in "\\|*_`":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.replace("&", "&amp;").replace("<", "&lt;").split())


WIDTH = 80
"""Columns that every terminal has."""


def aligned(rows: Mapping[str, str]) -> str:
    """Return one line per row, aligned on the colon; what does not fit into 80 columns goes on below."""
    margin = max((len(label) for label in rows), default=0)
    lines: list[str] = []
    for label, text in rows.items():
        pieces = textwrap.wrap(printable(text), WIDTH - margin - 2, break_on_hyphens=False) or [""]
        lines.append(f"{label:>{margin}}: {pieces[0]}".rstrip())
        lines += [f"{'':{margin}}  {piece}" for piece in pieces[1:]]
    return "\n".join(lines)
