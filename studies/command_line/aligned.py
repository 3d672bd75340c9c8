"""Labels and texts in aligned lines."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from studies.command_line.output import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

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
