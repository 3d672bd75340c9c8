"""Numbers, and names that came from outside, as texts for tables and messages."""

from __future__ import annotations

import math


def percent(gap: float | None) -> str:
    """Return a gap in percent with two decimals, a dash where there is none; only a gap of 0 becomes 0.00."""
    if gap is None:
        return "-"
    text = f"{100 * gap:.2f}"
    return "<0.01" if text == "0.00" and gap > 0 else text


NONE = "-"
"""What is not known or not defined."""


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


def printable(text: str) -> str:
    """Escape what would steer a terminal or cannot be encoded; names in files are free text."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )
