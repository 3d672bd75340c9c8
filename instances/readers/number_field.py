"""Numbers in the text of a file, with a message that names the place."""

from __future__ import annotations

import math
import re

from instances.frozen_array import MAX_INTEGER

_INTEGER = re.compile(r"[0-9]{1,16}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


def integer_field(text: str, place: str, what: str) -> int:
    """Read an integer of at least 0.

    Parameters
    ----------
    text
        The field; white space around it is ignored.
    place
        Where it stands, such as ``line 12``.
    what
        What it means, such as ``a time``.

    Raises
    ------
    ValueError
        If it is something else, or beyond 2**53.
    """
    field = text.strip()
    if _INTEGER.fullmatch(field) is None or int(field) > MAX_INTEGER:
        raise ValueError(f"{place}: expected {what}, an integer in 0..2**53, got {shortened(field)}.")
    return int(field)


def number_field(text: str, place: str, what: str) -> float:
    """Read a finite number of at least 0; see `integer_field` for the parameters.

    Raises
    ------
    ValueError
        If it is something else.
    """
    field = text.strip()
    if _NUMBER.fullmatch(field) is None or not 0 <= float(field) < math.inf:
        raise ValueError(f"{place}: expected {what}, a number of at least 0, got {shortened(field)}.")
    return abs(float(field))  # no negative zero


def bytes_from_number(value: float, place: str, what: str) -> int:
    """Round a number of bytes up to an integer.

    Raises
    ------
    ValueError
        If it is negative, not finite or beyond 2**53.
    """
    if not 0 <= value <= MAX_INTEGER:
        raise ValueError(f"{place}: expected {what}, bytes in 0..2**53, got {value:g}.")
    return math.ceil(value)


def shortened(text: str) -> str:
    """Quote a text, cut to 40 characters."""
    return repr(text if len(text) <= 40 else f"{text[:37]}...")
