"""Tests of content hashes."""

from __future__ import annotations

import hashlib

import pytest

from instances.json_fields import JsonObject, brief, check_entries, content_hash, is_integer, is_number, parse_json


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
        ('[{"x": {"b": 1, "c": 2, "b": 1}}]', "b: expected each key once, got it twice."),
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


def test_fields_are_taken_with_their_type() -> None:
    """Tests that every kind of field is returned as it stands, and that defaults stand in for what is missing."""
    fields = JsonObject({"t": "x", "i": 3, "n": None, "f": 2.5, "l": [1], "m": {"a": 1}, "o": None, "p": None})
    taken = (
        fields.text("t"),
        fields.integer("i"),
        fields.optional_integer("n"),
        fields.number("f"),
        fields.list("l"),
        fields.mapping("m"),
        fields.integer("absent", 7),
        fields.optional_number("o"),
        fields.optional_mapping("p"),
    )
    fields.close()
    assert taken == ("x", 3, None, 2.5, [1], {"a": 1}, 7, None, None)


@pytest.mark.parametrize(
    ("kind", "value", "expected", "got"),
    [
        ("text", 1, "text", "1"),
        ("integer", 1.0, "an integer", "1.0"),
        ("integer", True, "an integer", "true"),
        ("integer", None, "an integer", "null"),
        ("optional_integer", "1", "an integer or null", '"1"'),
        ("number", False, "a number", "false"),
        ("number", "1", "a number", '"1"'),
        ("optional_number", "1", "a number or null", '"1"'),
        ("optional_mapping", [], "an object or null", "[]"),
        ("list", {}, "a list", "{}"),
        ("mapping", [], "an object", "[]"),
    ],
)
def test_wrong_types(kind: str, value: object, expected: str, got: str) -> None:
    """Tests that a field of another type is refused with its place."""
    with pytest.raises(ValueError) as caught:
        getattr(JsonObject({"key": value}, "tasks[3]"), kind)("key")
    assert str(caught.value) == f"tasks[3].key: expected {expected}, got {got}."


def test_missing_left_over_and_no_object() -> None:
    """Tests the messages for a missing field, a field that nobody knows and something that is no object."""
    with pytest.raises(ValueError, match=r"^links\.x: expected a list, got nothing\.$"):
        JsonObject({}, "links").list("x")
    with pytest.raises(ValueError, match=r"^jobs\[0\]\.colour: expected no such key\.$"):
        JsonObject({"colour": 1}, "jobs[0]").close()
    with pytest.raises(ValueError, match=r"^document: expected an object, got \[1\]\.$"):
        JsonObject([1])
    with pytest.raises(ValueError, match=r"^gpus\[2\]: expected an object, got null\.$"):
        JsonObject(None, "gpus[2]")


def test_entries() -> None:
    """Tests that the first entry that is not accepted is named."""
    with pytest.raises(ValueError, match=r"^x\[2\]: expected an integer, got 0\.5\.$"):
        check_entries([1, 2, 0.5, None], is_integer, "an integer", "x")


def test_booleans_are_no_numbers() -> None:
    """Tests what counts as integer and as number."""
    assert [is_integer(value) for value in (0, -(2**70), True, 1.0, "1")] == [True, True, False, False, False]
    assert [is_number(value) for value in (0, 1.5, False, "1", None)] == [True, True, False, False, False]


def test_long_values_are_cut() -> None:
    """Tests that a value is shown in at most 40 characters."""
    assert brief([1, "a", None]) == '[1, "a", null]'
    assert brief("x" * 100) == '"' + "x" * 36 + "..."
    assert len(brief(list(range(100)))) == 40
