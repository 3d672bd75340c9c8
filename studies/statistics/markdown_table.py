"""Tables in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


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
