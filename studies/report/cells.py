"""Values of data frames as texts."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from studies.percent import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

NONE = "-"
"""What is not known."""


def known(value: Any) -> Any:
    """Return a value, None for NaN."""
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else value


def plain(value: Any) -> str:
    """Return a value as it is: whole numbers without decimals, a dash for what is not known."""
    value = known(value)
    if value is None or value == "":
        return NONE
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{value:g}"
    return str(value)


def seconds_text(value: Any) -> str:
    """Return seconds with milliseconds; only 0 is 0.000."""
    value = known(value)
    if value is None:
        return NONE
    return "<0.001" if 0 < value < 0.0005 else f"{value:.3f}"


def gap_text(value: Any) -> str:
    """Return a gap in percent."""
    return percent(known(value))


def ratio_text(value: Any) -> str:
    """Return a ratio with four decimals, rounded down, so that only 1 is 1.0000."""
    value = known(value)
    return NONE if value is None else f"{math.floor(10_000 * value + 1e-9) / 10_000:.4f}"


def moment(value: Any) -> str:
    """Return a stored time, which is UTC, without its offset."""
    value = known(value)
    return NONE if value is None else str(value).removesuffix("+00:00").replace("T", " ")


def parameters_text(document: str | Mapping[str, Any]) -> str:
    """Return parameters, given as JSON or as they are, as ``name = value, ...``."""
    given = json.loads(document) if isinstance(document, str) else document
    return ", ".join(f"{name} = {_value(value)}" for name, value in given.items()) or "defaults"


def _value(value: Any) -> str:
    """Return a parameter as in a specification."""
    return json.dumps(value) if isinstance(value, bool | list | dict) or value is None else str(value)
