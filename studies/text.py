"""Numbers as texts for tables and messages, and labels with texts in aligned lines."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from solvers.table import printable

if TYPE_CHECKING:
    from collections.abc import Mapping


NONE = "-"
"""Text of what is not known or not defined."""


def percent(gap: float | None) -> str:
    """Return a gap in percent with two decimals, a dash where there is none; only a gap of 0 becomes 0.00."""
    if gap is None:
        return NONE
    text = f"{100 * gap:.2f}"
    return "<0.01" if text == "0.00" and gap > 0 else text


def points(difference: float | None) -> str:
    """Return a difference of gaps in percentage points, signed; only a difference of 0 becomes 0.00."""
    if difference is None:
        return NONE
    text = f"{100 * difference:+.2f}"
    if text in ("+0.00", "-0.00"):
        return "0.00" if abs(difference) < 1e-12 else f"{text[0]}<0.01"
    return text


def p_text(p_value: float | None) -> str:
    """Return a p-value with four decimals; small ones are not rounded to 0."""
    if p_value is None:
        return NONE
    return "<0.0001" if p_value < 1e-4 else f"{p_value:.4f}"


def decimal(value: float | None, decimals: int = 2) -> str:
    """Return a number with a fixed number of decimals."""
    return NONE if value is None else f"{value:.{decimals}f}"


def number_text(number: float | None) -> str:
    """Return a number with four digits, larger ones in full."""
    if number is None or not math.isfinite(number):
        return NONE
    return f"{number:.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def within(low: str, high: str) -> str:
    """Return an interval of two texts, `NONE` where an end is not known."""
    return NONE if NONE in (low, high) else f"[{low}, {high}]"


WIDTH = 80
"""Columns that every terminal has."""


def aligned(rows: Mapping[str, str]) -> str:
    """Return one line per row, aligned on the colon; a text that does not fit into 80 columns continues below."""
    margin = max((len(label) for label in rows), default=0)
    lines: list[str] = []
    for label, text in rows.items():
        pieces = textwrap.wrap(printable(text), WIDTH - margin - 2, break_on_hyphens=False) or [""]
        lines.append(f"{label:>{margin}}: {pieces[0]}".rstrip())
        lines += [f"{'':{margin}}  {piece}" for piece in pieces[1:]]
    return "\n".join(lines)
