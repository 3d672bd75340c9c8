"""Small pieces of HTML for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def html_table(rows: Mapping[str, str]) -> str:
    """Return a two-column table of labels and texts."""
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(label)}</th><td style="text-align:left">{escape(text)}</td></tr>'
        for label, text in rows.items()
    )
    return f"<table>{cells}</table>"


def html_grid(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, title: str, caption: str, numbers: Sequence[str]
) -> str:
    """Return a table with title, headings and caption; the columns named in `numbers` are aligned on the right."""
    sides = ["right" if heading in numbers else "left" for heading in headings]

    def line(tag: str, cells: Sequence[str]) -> str:
        return "".join(
            f'<{tag} style="text-align:{side};padding:0 0.6em">{escape(cell)}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        )

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    notes = "<br>".join(escape(text) for text in caption.splitlines())
    return f"<b>{escape(title)}</b><table><tr>{line('th', headings)}</tr>{body}</table>{notes}"
