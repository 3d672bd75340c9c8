"""The one reader of fields: JSON objects and TOML tables whose fields are taken by name and kind."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Self

from instances.spelling import did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence


REQUIRED: Any = object()
"""Default of a field that must be there."""

HIGHEST = 2**63 - 1
"""Largest integer of TOML and of the study store; Python's reader of TOML accepts larger ones."""


class Fields:
    """The fields of a JSON object, which are taken one by one; `close` refuses those that nobody took.

    Parameters
    ----------
    value
        A value that the parser returned.
    place
        Place in the document, such as ``jobs[2]``; empty for the whole document.

    Raises
    ------
    ValueError
        If the value is not an object. Every method raises it where a field is not what is expected; the message gives
        the place of the field.
    """

    kind, whole = "an object", "document"

    def __init__(self, value: object, place: str = "") -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{place or self.whole}: expected {self.kind}, got {self.shown(value)}.")
        self._values: dict[str, Any] = value
        self._place = place
        self._taken: set[str] = set()
        self._inner: list[Self] = []

    def place(self, key: str) -> str:
        """Return the place of a field."""
        return f"{self._place}.{key}" if self._place else key

    def has(self, key: str) -> bool:
        """Say whether a field is there."""
        return key in self._values

    def check_format(self, expected: str, *versions: int) -> int:
        """Take the first two fields of every file of ours, ``format`` and ``version``, and return the version."""
        found = self.text("format")
        if found != expected:
            raise ValueError(f'format: expected "{expected}", got "{found}".')
        number: int = self.integer("version")
        if number not in versions:
            raise ValueError(f"version: expected {' or '.join(map(str, versions))}, got {number}.")
        return number

    def check_instance(self, name: str, sha256: str) -> str:
        """Take the instance that a schedule was made for; return the name that the schedule states."""
        stated, found = self.text("instance"), self.text("instance_sha256")
        if found != sha256:
            raise ValueError(f"instance_sha256: expected {sha256[:16]}... of instance {name!r}, got {found[:16]}...")
        return str(stated)

    def text(self, key: str, default: object = REQUIRED, *, choices: Sequence[str] = ()) -> Any:
        """Take a text, one of the choices where there are any."""
        value = self.take(key, default, "text", lambda value: isinstance(value, str))
        return one_of(value, choices, self.place(key)) if choices and value is not default else value

    def optional_text(self, key: str, default: object = REQUIRED) -> Any:
        """Take a text or null."""
        return self.take(key, default, "text or null", lambda value: value is None or isinstance(value, str))

    def integer(self, key: str, default: object = REQUIRED) -> Any:
        """Take an integer."""
        return self.take(key, default, "an integer", is_integer)

    def optional_integer(self, key: str, default: object = REQUIRED) -> Any:
        """Take an integer or null."""
        return self.take(key, default, "an integer or null", lambda value: value is None or is_integer(value))

    def number(self, key: str, default: object = REQUIRED) -> Any:
        """Take a number."""
        return self.take(key, default, "a number", is_number)

    def optional_number(self, key: str, default: object = REQUIRED) -> Any:
        """Take a number or null."""
        return self.take(key, default, "a number or null", lambda value: value is None or is_number(value))

    def mapping(self, key: str, default: object = REQUIRED) -> Any:
        """Take an object as it is."""
        return self.take(key, default, self.kind, lambda value: isinstance(value, dict))

    def optional_mapping(self, key: str, default: object = REQUIRED) -> Any:
        """Take an object as it is, or null."""
        expected = f"{self.kind} or null"
        return self.take(key, default, expected, lambda value: value is None or isinstance(value, dict))

    def entries(
        self, key: str, default: object = REQUIRED, *, of: str = "", accepts: Callable[[Any], bool] | None = None
    ) -> Any:
        """Take a list, whose entries must be accepted; `of` says what is expected of each."""
        values = self.take(key, default, "a list", lambda value: isinstance(value, list))
        if accepts is not None and values is not default:
            check_entries(values, accepts, of, self.place(key))
        return values

    def integer_entries(self, key: str, default: object = REQUIRED) -> Any:
        """Take a list of integers."""
        return self.entries(key, default, of="an integer", accepts=is_integer)

    def text_entries(self, key: str, default: object = REQUIRED) -> Any:
        """Take a list of texts."""
        return self.entries(key, default, of="text", accepts=lambda value: isinstance(value, str))

    def inner(self, key: str, default: object = REQUIRED) -> Self:
        """Take an object whose fields are to be taken in turn; it is closed with this one."""
        self._inner.append(type(self)(self.take(key, default, self.kind, lambda _: True), self.place(key)))
        return self._inner[-1]

    def optional_inner(self, key: str, default: object = REQUIRED) -> Self | None:
        """Take an object as `inner` does, or null."""
        return None if self.optional_mapping(key, default) is None else self.inner(key, default)

    def each(self, key: str, default: object = REQUIRED) -> list[Self]:
        """Take a list of objects whose fields are to be taken in turn; they are closed with this one."""
        values = enumerate(self.entries(key, default))
        found = [type(self)(value, f"{self.place(key)}[{index}]") for index, value in values]
        self._inner += found
        return found

    def close(self) -> None:
        """Refuse fields that nobody took, here and in the objects taken from here.

        Raises a `ValueError` if there are any.
        """
        for key in self._values:
            if key not in self._taken:
                raise ValueError(self._unknown(key))
        for item in self._inner:
            item.close()

    def take(self, key: str, default: object, expected: str, accepts: Callable[[Any], bool]) -> Any:
        """Take a field of an accepted kind."""
        self._taken.add(key)
        if key not in self._values:
            if default is REQUIRED:
                raise ValueError(self._missing(key, expected))
            return default
        value = self._values[key]
        if not accepts(value):
            raise ValueError(f"{self.place(key)}: expected {expected}, got {self.shown(value)}.")
        return value

    def _missing(self, key: str, expected: str) -> str:
        """Return the message for a field that is not there."""
        return f"{self.place(key)}: expected {expected}, got {self._misspelt(key) or 'nothing'}."

    def _misspelt(self, key: str) -> str:
        """Return what stands in the place of a field that is not there, empty where nothing is near."""
        near = nearest(key, [other for other in self._values if other not in self._taken])
        return f"the key {near[0]!r} (did you mean {key}?)" if near else ""

    def _unknown(self, key: str) -> str:
        """Return the message for a field that nobody took."""
        return f"{self.place(key)}: expected no such key{did_you_mean(key, self._taken)}."

    @staticmethod
    def shown(value: object) -> str:
        """Return a value as it stands in the file, in at most 40 characters."""
        return brief(value)


class TomlTable(Fields):
    """The fields of a TOML table, which people write by hand: texts are not empty, and messages list the keys."""

    kind, whole = "a table", "file"

    def text(self, key: str, default: object = REQUIRED, *, choices: Sequence[str] = ()) -> Any:
        """Take a text that is not empty, one of the choices where there are any."""
        value = self.take(key, default, "a text", lambda _: True)
        return value if value is default else checked_text(value, self.place(key), choices)

    def integer(self, key: str, default: object = REQUIRED, *, low: int = 0, high: int = HIGHEST) -> Any:
        """Take an integer in low..high."""
        value = self.take(key, default, "an integer", lambda _: True)
        return value if value is default else _checked_integer(value, self.place(key), low, high)

    def positive(self, key: str, default: object = REQUIRED) -> Any:
        """Take a finite number above 0 as float."""
        value = self.take(key, default, "a number", lambda _: True)
        if value is default:
            return value
        if (number := _checked_number(value, self.place(key))) <= 0:
            raise ValueError(f"{self.place(key)}: expected a number above 0, got {value}.")
        return number

    def texts(
        self, key: str, default: object = REQUIRED, *, choices: Sequence[str] = (), at_least: int = 1
    ) -> tuple[str, ...]:
        """Take a text or a list of different texts, at least so many."""
        found = self._several(key, default, at_least)
        return tuple(checked_text(value, place, choices) for place, value in found)

    def integers(self, key: str, default: object = REQUIRED, *, low: int = 0, high: int = HIGHEST) -> tuple[int, ...]:
        """Take an integer or a list of different integers in low..high, at least one."""
        return tuple(_checked_integer(value, place, low, high) for place, value in self._several(key, default))

    def numbers(self, key: str, default: object = REQUIRED) -> tuple[float, ...]:
        """Take a number or a list of different numbers of at least 0, at least one, as floats."""
        numbers = tuple(_checked_number(value, place) for place, value in self._several(key, default))
        for number in numbers:
            if number < 0:
                raise ValueError(f"{self.place(key)}: expected numbers of at least 0, got {number}.")
        return numbers

    def tables(self, key: str, *, at_least: int = 0) -> list[Self]:
        """Take a list of tables, `[[key]]` in the file."""
        value = self.take(key, [], "a list", lambda _: True)
        if not isinstance(value, list) or len(value) < at_least:
            raise ValueError(f"{self.place(key)}: expected {f'at least {at_least} of ' if at_least else ''}[[{key}]].")
        return self.each(key, [])

    def parameters(self, key: str) -> dict[str, Any]:
        """Take a table of parameters: truth values, finite numbers, texts, lists or tables of these; may be missing."""
        value = self.take(key, {}, "a table", lambda _: True)
        if not isinstance(value, dict):
            example = "a table such as { population = 50 }"
            raise ValueError(f"{self.place(key)}: expected {example}, got {self.shown(value)}.")
        for name, entry in value.items():
            within = entry if isinstance(entry, dict) else {"": entry}
            for inner, items in within.items():
                for item in items if isinstance(items, list) else [items]:
                    if not isinstance(item, bool | int | float | str) or (
                        isinstance(item, float) and not math.isfinite(item)
                    ):
                        place = f"{self.place(key)}.{name}{'.' if inner else ''}{inner}"
                        raise ValueError(f"{place}: expected a truth value, number or text, got {self.shown(item)}.")
        return dict(value)

    def _several(self, key: str, default: Any, at_least: int = 1) -> list[tuple[str, object]]:
        """Take one value or a list of different ones, with their places."""
        value, place = self.take(key, default, "a value", lambda _: True), self.place(key)
        values = list(value) if isinstance(value, list | tuple) else [value]
        if len(values) < at_least:
            raise ValueError(f"{place}: expected at least one value, got none.")
        if len({repr(entry) for entry in values}) < len(values):
            raise ValueError(f"{place}: expected each value once, got {self.shown(values)}.")
        is_list = isinstance(value, list)
        return [(f"{place}[{index}]" if is_list else place, entry) for index, entry in enumerate(values)]

    def _missing(self, key: str, expected: str) -> str:
        """Return the message for a key that is not there."""
        return f"{self._place or self.whole}: expected the key {key!r}, got {self._misspelt(key) or 'none'}."

    def _unknown(self, key: str) -> str:
        """Return the message for a key that nobody took."""
        expected = ", ".join(sorted(self._taken))
        return f"{self._place or self.whole}: expected {expected}, got the key {key!r}{did_you_mean(key, self._taken)}."

    @staticmethod
    def shown(value: object) -> str:
        """Return a value as text, cut to 60 characters."""
        text = repr(value)
        return text if len(text) <= 60 else f"{text[:57]}..."


def is_integer(value: object) -> bool:
    """Say whether a parsed value is an integer."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Say whether a parsed value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_entries(values: Sequence[object], accepts: Callable[[Any], bool], expected: str, place: str) -> None:
    """Check every entry of a list. Raises a `ValueError` if an entry is not accepted; the message gives its place."""
    for index, value in enumerate(values):
        if not accepts(value):
            raise ValueError(f"{place}[{index}]: expected {expected}, got {brief(value)}.")


def checked_text(value: object, place: str, choices: Sequence[str] = ()) -> str:
    """Return a text that is not empty, one of the choices where there are any.

    Raises a `ValueError` if it is something else.
    """
    if not isinstance(value, str) or not value:
        raise ValueError(f"{place}: expected a text, got {TomlTable.shown(value)}.")
    return one_of(value, choices, place) if choices else value


def one_of(value: object, choices: Collection[str], place: str) -> str:
    """Return a text that is one of the choices.

    Raises a `ValueError` if it is another one; the message names the nearest choice.
    """
    if not isinstance(value, str) or value not in choices:
        hint = did_you_mean(value, choices)
        raise ValueError(f"{place}: expected one of {', '.join(choices)}, got {TomlTable.shown(value)}{hint}.")
    return value


def brief(value: object) -> str:
    """Show a JSON value in at most 40 characters."""
    text = json.dumps(value, default=repr)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _checked_integer(value: object, place: str, low: int, high: int) -> int:
    """Return an integer in low..high."""
    if not isinstance(value, int) or isinstance(value, bool) or value < low:
        raise ValueError(f"{place}: expected an integer of at least {low}, got {TomlTable.shown(value)}.")
    if value > high:
        raise ValueError(f"{place}: expected an integer of at most {high}, got {TomlTable.shown(value)}.")
    return value


def _checked_number(value: object, place: str) -> float:
    """Return a finite number."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{place}: expected a finite number, got {TomlTable.shown(value)}.")
    return float(value)
