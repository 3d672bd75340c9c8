"""JSON documents: strict parsing, writing with one item per line, and the content hash."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def parse_json(text: str) -> object:
    """Parse JSON text; duplicate keys, NaN and infinities are errors.

    Raises a `ValueError` if the text is not JSON, the message gives line and column; or if a key is there twice, it
    gives the place.
    """
    twice: dict[int, tuple[dict[str, object], str]] = {}  # objects, kept alive, by identity

    def as_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
        result = dict(pairs)
        if len(result) < len(pairs):
            keys = [key for key, _ in pairs]
            twice[id(result)] = result, next(key for at, key in enumerate(keys) if key in keys[:at])
        return result

    try:
        document = json.loads(text, object_pairs_hook=as_object, parse_constant=_refuse_constant)
        for place, item in _objects("", document) if twice else ():
            if id(item) in twice:
                raise ValueError(
                    f"{place}{'.' if place else ''}{twice[id(item)][1]}: expected each key once, got it twice."
                )
        return document
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: expected JSON, got {error.msg}.") from error
    except RecursionError as error:
        raise ValueError("line 1, column 1: expected JSON of moderate depth, got deeper nesting.") from error
    except ValueError as error:
        if "int_max_str_digits" in str(error):  # Python's own limit, in Python's own words
            raise ValueError("document: expected integers of at most thousands of digits, got more.") from error
        raise


def _objects(place: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield the objects of a document with their places, the outer ones first."""
    if isinstance(value, dict):
        yield place, value
        for key, item in value.items():
            yield from _objects(f"{place}.{key}" if place else key, item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _objects(f"{place}[{index}]", item)


def _refuse_constant(name: str) -> object:
    """Refuse NaN and infinities, which are not JSON."""
    raise ValueError(f"document: expected finite numbers, got {name}.")


def json_lines(document: Mapping[str, object], long_keys: tuple[str, ...] = ()) -> str:
    """Return JSON text with one line per key, and per item of the lists under `long_keys`: small, easy to compare."""
    lines = []
    for key, value in document.items():
        if key in long_keys and isinstance(value, list) and value:
            items = ",\n  ".join(json.dumps(item, allow_nan=False) for item in value)
            lines.append(f' "{key}": [\n  {items}]')
        else:
            lines.append(f' "{key}": {json.dumps(value, allow_nan=False)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def content_hash(document: Mapping[str, object]) -> str:
    """Return the SHA-256 of a JSON document in canonical form, as 64 hexadecimal digits.

    Canonical means sorted keys, no white space, ASCII only, and floats in their shortest form that reads back the
    same; neither the order of keys nor the platform changes the hash.

    Raises a `ValueError` if a number is not finite.
    """
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
