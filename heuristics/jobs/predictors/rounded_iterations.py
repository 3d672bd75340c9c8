"""From a prediction on the scale of logarithms to iterations."""

from __future__ import annotations

import math

_LARGEST_LOG = 700.0  # beyond it exp overflows


def rounded_iterations(log_iterations: float) -> int:
    """Return max(1, round(exp(ln n)))."""
    return max(1, round(math.exp(min(log_iterations, _LARGEST_LOG))))


def checked_unknown(unknown: int) -> int:
    """Return the prediction for the case that nothing completed yet if it is at least 1.

    Raises
    ------
    ValueError
        If it is below 1.
    """
    if unknown < 1:
        raise ValueError(f"unknown: expected at least 1, got {unknown}.")
    return int(unknown)
