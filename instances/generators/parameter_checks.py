"""Checks of what callers ask a generator for."""

from __future__ import annotations

import math
import operator
from typing import SupportsIndex


def check_integer(place: str, value: SupportsIndex, *, low: int, high: int | None = None) -> int:
    """Return a parameter as an integer in its range.

    Parameters
    ----------
    place
        Name of the parameter, for the error message.
    value
        What was passed.
    low, high
        Smallest and largest value; None where there is no largest.

    Raises
    ------
    TypeError
        If it is not an integer.
    ValueError
        If it is out of range.
    """
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise TypeError(f"{place}: expected an integer, got {value!r}.")
    number = operator.index(value)
    if number < low or (high is not None and number > high):
        expected = f"at least {low}" if high is None else f"an integer in {low}..{high}"
        raise ValueError(f"{place}: expected {expected}, got {number}.")
    return number


def check_number(place: str, value: float, *, low: float, high: float = math.inf) -> float:
    """Return a parameter as a finite number in its range; see `check_integer` for the parameters.

    Raises
    ------
    TypeError
        If it is not a number.
    ValueError
        If it is out of range.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{place}: expected a number, got {value!r}.")
    if not low <= value <= high or math.isinf(value):
        expected = f"at least {low:g}" if high == math.inf else f"a number in {low:g}..{high:g}"
        raise ValueError(f"{place}: expected {expected}, got {value}.")
    return float(value)
