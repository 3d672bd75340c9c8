"""Small pieces of HTML for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def html_table(rows: Mapping[str, str]) -> str:
    """Return a two-column table of labels and texts."""
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(label)}</th><td style="text-align:left">{escape(text)}</td></tr>'
        for label, text in rows.items()
    )
    return f"<table>{cells}</table>"
