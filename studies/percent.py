"""Gaps as texts."""

from __future__ import annotations


def percent(gap: float | None) -> str:
    """Return a gap in percent with two decimals, a dash where there is none; only a gap of 0 becomes 0.00."""
    if gap is None:
        return "-"
    text = f"{100 * gap:.2f}"
    return "<0.01" if text == "0.00" and gap > 0 else text
