"""Tests of the reader of fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from instances.fields import Fields, TomlTable, brief, check_entries, is_integer, is_number

if TYPE_CHECKING:
    from collections.abc import Callable


def test_fields_are_taken_with_their_type() -> None:
    """Tests that every kind of field is returned as it stands, and that defaults stand in for what is missing."""
    fields = Fields({"t": "x", "i": 3, "n": None, "f": 2.5, "l": [1], "m": {"a": 1}, "o": None, "p": None})
    taken = (
        fields.text("t"),
        fields.integer("i"),
        fields.optional_integer("n"),
        fields.number("f"),
        fields.entries("l"),
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
        ("entries", {}, "a list", "{}"),
        ("mapping", [], "an object", "[]"),
    ],
)
def test_wrong_types(kind: str, value: object, expected: str, got: str) -> None:
    """Tests that a field of another type is refused with its place."""
    with pytest.raises(ValueError) as caught:
        getattr(Fields({"key": value}, "tasks[3]"), kind)("key")
    assert str(caught.value) == f"tasks[3].key: expected {expected}, got {got}."


def test_missing_left_over_and_no_object() -> None:
    """Tests the messages for a missing field, a field that nobody knows and something that is no object."""
    with pytest.raises(ValueError, match=r"^links\.x: expected a list, got nothing\.$"):
        Fields({}, "links").entries("x")
    with pytest.raises(ValueError, match=r"^jobs\[0\]\.colour: expected no such key\.$"):
        Fields({"colour": 1}, "jobs[0]").close()
    with pytest.raises(ValueError, match=r"^document: expected an object, got \[1\]\.$"):
        Fields([1])
    with pytest.raises(ValueError, match=r"^gpus\[2\]: expected an object, got null\.$"):
        Fields(None, "gpus[2]")


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


def test_inner_objects_are_closed_with_the_document() -> None:
    """Tests that objects taken from an object know their places, and that closing the outer one closes them."""
    document = Fields({"links": {"a": 1}, "gpus": [{"b": 2}, {"b": 3, "c": 4}], "none": None})
    links, gpus = document.inner("links"), document.each("gpus")
    assert document.optional_inner("none") is None
    assert (links.integer("a"), [gpu.integer("b") for gpu in gpus]) == (1, [2, 3])
    with pytest.raises(ValueError, match=r"^gpus\[1\]\.c: expected no such key\.$"):
        document.close()


def test_format_and_instance_of_a_file() -> None:
    """Tests that another format, version or instance is refused."""
    head = {"format": "optgap/x", "version": 1, "instance": "i", "instance_sha256": "a" * 64}
    fields = Fields(head)
    fields.check_format("optgap/x", 1)
    assert fields.check_instance("other name", "a" * 64) == "i"
    fields.close()
    with pytest.raises(ValueError, match=r'^format: expected "optgap/y", got "optgap/x"\.$'):
        Fields(head).check_format("optgap/y", 1)
    with pytest.raises(ValueError, match=r"^version: expected 2, got 1\.$"):
        Fields(head).check_format("optgap/x", 2)
    with pytest.raises(ValueError, match=r"^instance_sha256: expected b{16}\.\.\. of instance 'i', got a{16}\.\.\.$"):
        Fields(head).check_instance("i", "b" * 64)


@pytest.mark.parametrize(
    ("take", "message"),
    [
        (lambda table: table.text("name"), "study.name: expected a text, got ''."),
        (lambda table: table.text("kind", choices=["dag", "jobs"]), "study.kind: expected one of dag, jobs, got 'dga'"),
        (lambda table: table.text("nothing"), "study: expected the key 'nothing', got none."),
        (lambda table: table.integer("seed"), "study.seed: expected an integer of at least 0, got -1."),
        (lambda table: table.integers("sizes", low=1), "study.sizes[1]: expected an integer of at least 1, got 0."),
        (lambda table: table.positive("seconds"), "study.seconds: expected a number above 0, got 0."),
        (lambda table: table.texts("names"), "study.names: expected each value once, got ['a', 'a']."),
        (lambda table: table.tables("seed"), "study.seed: expected [[seed]]."),
        (lambda table: table.parameters("seed"), "study.seed: expected a table such as { population = 50 }, got -1."),
        (lambda table: table.inner("seed"), "study.seed: expected a table, got -1."),
    ],
)
def test_toml_tables(take: Callable[[TomlTable], object], message: str) -> None:
    """Tests the messages for fields of a table that a person wrote."""
    table = {"name": "", "kind": "dga", "seed": -1, "sizes": [2, 0], "seconds": 0, "names": ["a", "a"]}
    with pytest.raises(ValueError) as caught:
        take(TomlTable(table, "study"))
    assert str(caught.value).startswith(message)


def test_unknown_key_of_a_toml_table() -> None:
    """Tests that an unknown key is reported with the known ones and the nearest of them."""
    table = TomlTable({"seed": 1, "repetition": 2})
    assert (table.integer("seed"), table.integer("repetitions", 1)) == (1, 1)
    with pytest.raises(ValueError) as caught:
        table.close()
    known = "repetitions, seed"
    assert str(caught.value) == f"file: expected {known}, got the key 'repetition' (did you mean repetitions?)."
