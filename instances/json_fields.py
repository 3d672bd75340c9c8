"""Strict reading of JSON, where every error names its place, and the hash of a JSON document."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


REQUIRED = object()
"""Default of a field that must be there."""


def parse_json(text: str) -> object:
    """Parse JSON text; duplicate keys, NaN and infinities are errors.

    Raises
    ------
    ValueError
        If the text is not JSON; the message gives line and column.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: expected JSON, got {error.msg}.") from error
    except RecursionError as error:
        raise ValueError("line 1, column 1: expected JSON of moderate depth, got deeper nesting.") from error
    except ValueError as error:
        if "int_max_str_digits" in str(error):  # Python's own limit, in Python's own words
            raise ValueError("document: expected integers of at most thousands of digits, got more.") from error
        raise


class JsonObject:
    """A JSON object whose fields are taken one by one, with their type; what is left over is an error.

    Parameters
    ----------
    value
        What the parser returned.
    place
        Where it stands, empty at the top.

    Raises
    ------
    ValueError
        If the value is not an object.
    """

    def __init__(self, value: object, place: str = "") -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{place or 'document'}: expected an object, got {brief(value)}.")
        self._fields: dict[str, Any] = dict(value)
        self._place = place

    def place(self, key: str) -> str:
        """Return the place of a field."""
        return f"{self._place}.{key}" if self._place else key

    def text(self, key: str, default: object = REQUIRED) -> Any:
        """Take a text."""
        return self._take(key, default, "text", lambda value: isinstance(value, str))

    def optional_text(self, key: str, default: object = REQUIRED) -> Any:
        """Take a text or null."""
        return self._take(key, default, "text or null", lambda value: value is None or isinstance(value, str))

    def integer(self, key: str, default: object = REQUIRED) -> Any:
        """Take an integer."""
        return self._take(key, default, "an integer", is_integer)

    def optional_integer(self, key: str, default: object = REQUIRED) -> Any:
        """Take an integer or null."""
        return self._take(key, default, "an integer or null", lambda value: value is None or is_integer(value))

    def number(self, key: str, default: object = REQUIRED) -> Any:
        """Take a number."""
        return self._take(key, default, "a number", is_number)

    def optional_number(self, key: str, default: object = REQUIRED) -> Any:
        """Take a number or null."""
        return self._take(key, default, "a number or null", lambda value: value is None or is_number(value))

    def optional_mapping(self, key: str, default: object = REQUIRED) -> Any:
        """Take an object or null."""
        return self._take(key, default, "an object or null", lambda value: value is None or isinstance(value, dict))

    def list(self, key: str, default: object = REQUIRED) -> Any:
        """Take a list."""
        return self._take(key, default, "a list", lambda value: isinstance(value, list))

    def mapping(self, key: str, default: object = REQUIRED) -> Any:
        """Take an object."""
        return self._take(key, default, "an object", lambda value: isinstance(value, dict))

    def close(self) -> None:
        """Refuse fields that nobody took.

        Raises
        ------
        ValueError
            If there are any.
        """
        for key in self._fields:
            raise ValueError(f"{self.place(key)}: expected no such key.")

    def _take(self, key: str, default: object, expected: str, accepts: Callable[[Any], bool]) -> Any:
        """Take a field of an accepted type."""
        if key not in self._fields:
            if default is REQUIRED:
                raise ValueError(f"{self.place(key)}: expected {expected}, got nothing.")
            return default
        value = self._fields.pop(key)
        if not accepts(value):
            raise ValueError(f"{self.place(key)}: expected {expected}, got {brief(value)}.")
        return value


def is_integer(value: object) -> bool:
    """Say whether a JSON value is an integer."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Say whether a JSON value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_entries(values: Sequence[object], accepts: Callable[[object], bool], expected: str, place: str) -> None:
    """Check every entry of a list.

    Raises
    ------
    ValueError
        If an entry is not accepted; the message gives its place.
    """
    for index, value in enumerate(values):
        if not accepts(value):
            raise ValueError(f"{place}[{index}]: expected {expected}, got {brief(value)}.")


def brief(value: object) -> str:
    """Show a JSON value in at most 40 characters."""
    text = json.dumps(value, default=repr)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make an object, refusing a key that is there twice."""
    result: dict[str, object] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"{key}: expected each key once, got it twice.")
        result[key] = value
    return result


def _refuse_constant(name: str) -> object:
    """Refuse NaN and infinities, which are not JSON."""
    raise ValueError(f"document: expected finite numbers, got {name}.")


def content_hash(document: Mapping[str, object]) -> str:
    """Return the SHA-256 of a JSON document in canonical form, as 64 hexadecimal digits.

    Canonical: keys sorted, no white space, ASCII only, floats in their shortest form that reads back the same.
    So neither the order of keys nor the platform changes it.

    Raises
    ------
    ValueError
        If a number is not finite.
    """
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
