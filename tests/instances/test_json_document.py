"""Tests of JSON documents and of content hashes."""

from __future__ import annotations

import hashlib

import pytest

from instances.json_document import content_hash, parse_json


def test_hash_of_canonical_text() -> None:
    """Tests that the hash is SHA-256 of JSON with sorted keys, no white space and ASCII only."""
    document = {"b": [1, 2.5, None, True], "a": "é"}
    expected = hashlib.sha256(b'{"a":"\\u00e9","b":[1,2.5,null,true]}').hexdigest()
    assert content_hash(document) == expected
    assert content_hash(dict(reversed(document.items()))) == expected


def test_hash_is_pinned() -> None:
    """Tests the hash of an empty document against its published value."""
    assert content_hash({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def test_kinds_of_numbers_differ() -> None:
    """Tests that 1 and 1.0 are different content, so that documents must use one kind per field."""
    assert content_hash({"x": 1}) != content_hash({"x": 1.0})


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_are_finite(value: float) -> None:
    """Tests that numbers outside JSON have no hash."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        content_hash({"x": value})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected JSON, got Expecting value."),
        ('{"a": 1,\n "b": }', "line 2, column 7: expected JSON, got Expecting value."),
        ('{"a": 1} x', "line 1, column 10: expected JSON, got Extra data."),
        ('{"a": 1, "a": 2}', "a: expected each key once, got it twice."),
        ('[{"x": {"b": 1, "c": 2, "b": 1}}]', "[0].x.b: expected each key once, got it twice."),
        ("[NaN]", "document: expected finite numbers, got NaN."),
        ("[-Infinity]", "document: expected finite numbers, got -Infinity."),
        ("[" * 100_000, "line 1, column 1: expected JSON of moderate depth, got deeper nesting."),
    ],
    ids=["empty", "value", "extra", "twice", "nested", "nan", "infinity", "deep"],
)
def test_syntax(text: str, message: str) -> None:
    """Tests that broken JSON is refused with line and column, and what standard JSON lacks by name."""
    with pytest.raises(ValueError) as caught:
        parse_json(text)
    assert str(caught.value) == message


def test_integer_with_too_many_digits() -> None:
    """Tests that an integer of thousands of digits is refused in the same voice as other broken input."""
    with pytest.raises(ValueError, match=r"^document: expected "):
        parse_json("[" + "1" * 5000 + "]")
