"""Tables for the terminal."""

from __future__ import annotations

import io
import shutil
import sys
from typing import TYPE_CHECKING

from studies.command_line.output import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_WIDTH = 100
"""Wider tables are hard to read, whatever the terminal has room for."""

NARROW = 60
"""In fewer columns every cell may be wrapped: nothing is cut off."""


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
        Texts; long ones are wrapped, but for the first column where there is room.
    title, caption
        Above and below.
    numbers
        Headings of the columns that are aligned on the right and never wrapped.
    bold
        Row that stands out.
    """
    from rich.box import HORIZONTALS
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=HORIZONTALS, pad_edge=False, padding=(0, 1, 0, 0))
    width = min(shutil.get_terminal_size((80, 24)).columns, MAX_WIDTH)
    is_narrow = width < NARROW
    for index, heading in enumerate(headings):
        is_number = heading in numbers
        table.add_column(
            heading,
            justify="right" if is_number else "left",
            no_wrap=not is_narrow and (is_number or index == 0),
            min_width=None if is_narrow else 6,
            overflow="fold",
        )
    for index, row in enumerate(rows):
        table.add_row(*(Text(printable(cell)) for cell in row), style="bold" if index == bold else None)
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=sys.stdout.isatty(),
    )
    with console.capture() as captured:
        if title:
            console.print(Text(printable(title), style="bold"))
        console.print(table)
        if caption:
            console.print(Text(printable(caption)))
    return "\n".join(line.rstrip() for line in captured.get().rstrip().splitlines())
