"""Numbers in a JSON document that are finite and at least 0."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from instances.json_fields import REQUIRED, brief
from instances.readers.number_field import bytes_from_number

if TYPE_CHECKING:
    from instances.json_fields import JsonObject


def json_number(fields: JsonObject, key: str, default: object = REQUIRED) -> float:
    """Take a finite number of at least 0.

    Raises
    ------
    ValueError
        If it is something else.
    """
    value = fields.number(key, default)
    if not 0 <= value <= sys.float_info.max:
        raise ValueError(f"{fields.place(key)}: expected a finite number of at least 0, got {brief(value)}.")
    return float(value)


def json_bytes(fields: JsonObject, key: str, default: object = REQUIRED) -> int:
    """Take a number of bytes, rounded up to an integer.

    Raises
    ------
    ValueError
        If it is negative or beyond 2**53.
    """
    return bytes_from_number(json_number(fields, key, default), fields.place(key), "a size")
