"""Colours behind gaps: green at the optimum, then from white to red."""

from __future__ import annotations

FULL_RED_GAP = 1.0
"""Gap from which on the colour does not become stronger: twice the bound."""


def gap_colour(gap: float | None) -> str:
    """Return a light CSS colour on which dark text is legible; grey where there is no gap."""
    if gap is None:
        return "#e5e7eb"
    if gap == 0:
        return "#d3f0da"
    share = min(gap / FULL_RED_GAP, 1.0) ** 0.5
    red, green, blue = (round(255 + share * (end - 255)) for end in (245, 150, 130))
    return f"#{red:02x}{green:02x}{blue:02x}"
