"""Fields of a TOML table, taken one by one; what is left over at the end is an error."""

from __future__ import annotations

import difflib
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REQUIRED: Any = object()
"""Default of a field that must be there."""

HIGHEST = 2**63 - 1
"""Largest integer of TOML and of the store; the reader of Python takes larger ones."""


class TomlTable:
    """A table whose fields are taken by name and kind.

    Parameters
    ----------
    values
        The table as `tomllib` reads it.
    place
        Where it stands in the file, such as ``methods[2]``; empty for the whole file.

    Raises
    ------
    ValueError
        If it is no table; so do all methods where a field is not what was expected.
    """

    def __init__(self, values: object, place: str = "") -> None:
        if not isinstance(values, dict):
            raise ValueError(f"{place}: expected a table, got {_shown(values)}.")
        self._values: Mapping[str, object] = values
        self._taken: set[str] = set()
        self._place = place

    def at(self, key: str) -> str:
        """Return the place of a field."""
        return f"{self._place}.{key}" if self._place else key

    def has(self, key: str) -> bool:
        """Say whether a field is there."""
        return key in self._values

    def text(self, key: str, default: Any = REQUIRED, *, choices: Sequence[str] = ()) -> Any:
        """Take a text that is not empty, one of the choices where there are any."""
        value = self._take(key, default)
        if value is default:
            return value
        return checked_text(value, self.at(key), choices)

    def integer(self, key: str, default: Any = REQUIRED, *, low: int = 0) -> Any:
        """Take an integer of at least `low`."""
        value = self._take(key, default)
        return value if value is default else _checked_integer(value, self.at(key), low)

    def positive(self, key: str, default: Any = REQUIRED) -> Any:
        """Take a finite number above 0 as float."""
        value = self._take(key, default)
        if value is default:
            return value
        number = _checked_number(value, self.at(key))
        if number <= 0:
            raise ValueError(f"{self.at(key)}: expected a number above 0, got {value}.")
        return number

    def texts(
        self, key: str, default: Any = REQUIRED, *, choices: Sequence[str] = (), at_least: int = 1
    ) -> tuple[str, ...]:
        """Take a text or a list of different texts, at least so many."""
        found = self._several(key, default, at_least)
        return tuple(checked_text(value, place, choices) for place, value in found)

    def integers(self, key: str, default: Any = REQUIRED, *, low: int = 0) -> tuple[int, ...]:
        """Take an integer or a list of different integers, at least one."""
        return tuple(_checked_integer(value, place, low) for place, value in self._several(key, default))

    def numbers(self, key: str, default: Any = REQUIRED) -> tuple[float, ...]:
        """Take a number or a list of different numbers of at least 0, at least one, as floats."""
        numbers = tuple(_checked_number(value, place) for place, value in self._several(key, default))
        for number in numbers:
            if number < 0:
                raise ValueError(f"{self.at(key)}: expected numbers of at least 0, got {number}.")
        return numbers

    def table(self, key: str) -> TomlTable:
        """Take a table; one that is not there is empty."""
        return TomlTable(self._take(key, {}), self.at(key))

    def tables(self, key: str, *, at_least: int = 0) -> list[TomlTable]:
        """Take a list of tables, `[[key]]` in the file."""
        value = self._take(key, [])
        if not isinstance(value, list) or len(value) < at_least:
            raise ValueError(f"{self.at(key)}: expected {f'at least {at_least} of ' if at_least else ''}[[{key}]].")
        return [TomlTable(entry, f"{self.at(key)}[{index}]") for index, entry in enumerate(value)]

    def parameters(self, key: str) -> dict[str, Any]:
        """Take a table of parameters: truth values, finite numbers, texts, lists or tables of these; may be missing."""
        value = self._take(key, {})
        if not isinstance(value, dict):
            raise ValueError(f"{self.at(key)}: expected a table such as {{ population = 50 }}, got {_shown(value)}.")
        for name, entry in value.items():
            within = entry if isinstance(entry, dict) else {"": entry}
            for inner, items in within.items():
                for item in items if isinstance(items, list) else [items]:
                    if not isinstance(item, bool | int | float | str) or (
                        isinstance(item, float) and not math.isfinite(item)
                    ):
                        place = f"{self.at(key)}.{name}{'.' if inner else ''}{inner}"
                        raise ValueError(f"{place}: expected a truth value, number or text, got {_shown(item)}.")
        return dict(value)

    def close(self) -> None:
        """Refuse fields that were not taken."""
        for key in self._values:
            if key not in self._taken:
                near = difflib.get_close_matches(key, self._taken, n=1)
                hint = f" (did you mean {near[0]}?)" if near else ""
                place = self._place or "file"
                raise ValueError(f"{place}: expected {', '.join(sorted(self._taken))}, got the key {key!r}{hint}.")

    def _take(self, key: str, default: Any) -> Any:
        """Take a field as it is."""
        self._taken.add(key)
        if key not in self._values:
            if default is REQUIRED:
                raise ValueError(f"{self._place or 'file'}: expected the key {key!r}, got none.")
            return default
        return self._values[key]

    def _several(self, key: str, default: Any, at_least: int = 1) -> list[tuple[str, object]]:
        """Take one value or a list of different ones, with their places."""
        value = self._take(key, default)
        values = list(value) if isinstance(value, list | tuple) else [value]
        if len(values) < at_least:
            raise ValueError(f"{self.at(key)}: expected at least one value, got none.")
        if len({repr(entry) for entry in values}) < len(values):
            raise ValueError(f"{self.at(key)}: expected each value once, got {_shown(values)}.")
        is_list = isinstance(value, list)
        return [(f"{self.at(key)}[{index}]" if is_list else self.at(key), entry) for index, entry in enumerate(values)]


def checked_text(value: object, place: str, choices: Sequence[str] = ()) -> str:
    """Return a text that is not empty, one of the choices where there are any.

    Raises
    ------
    ValueError
        If it is something else.
    """
    if not isinstance(value, str) or not value:
        raise ValueError(f"{place}: expected a text, got {_shown(value)}.")
    if choices and value not in choices:
        near = difflib.get_close_matches(value, choices, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise ValueError(f"{place}: expected one of {', '.join(choices)}, got {value!r}{hint}.")
    return value


def _checked_integer(value: object, place: str, low: int) -> int:
    """Return an integer of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise ValueError(f"{place}: expected an integer of at least {low}, got {_shown(value)}.")
    if value > HIGHEST:
        raise ValueError(f"{place}: expected an integer of at most {HIGHEST}, got {_shown(value)}.")
    return value


def _checked_number(value: object, place: str) -> float:
    """Return a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{place}: expected a finite number, got {_shown(value)}.")
    return float(value)


def _shown(value: object) -> str:
    """Return a value as text, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
