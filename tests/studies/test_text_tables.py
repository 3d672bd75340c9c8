"""Tests of labels and texts in aligned lines."""

from __future__ import annotations

import pytest

from studies.text_tables import WIDTH, aligned, text_table


def test_long_texts_go_on_below() -> None:
    """Tests that texts are wrapped at 80 columns and stay behind the colon."""
    lines = aligned({"a": "word " * 40, "label": "text"}).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert lines[0].startswith("    a: word word")
    assert all(line.startswith("       word") for line in lines[1:-1])
    assert lines[-1] == "label: text"
    assert " ".join(lines[:-1]).split() == ["a:", *["word"] * 40]


def test_control_characters_are_escaped() -> None:
    """Tests that a name cannot begin a new line."""
    assert aligned({"name": "a\nb: c"}) == "name: a\\nb: c"


NAMES = ("gaussian-elimination-n14-s0", "pipeline-training-n16-s0", "erdos-renyi-n12-s0")
HEADINGS = ("instance", "tasks", "edges", "GPUs", "bound", "proved by", "seconds")


def _lines(table: str) -> list[str]:
    """Return the lines between the rules, without headings."""
    rules = [
        index
        for index, line in enumerate(table.splitlines())
        if line.strip().startswith("\N{BOX DRAWINGS LIGHT HORIZONTAL}")
    ]
    return table.splitlines()[rules[1] + 1 : rules[2]]


@pytest.mark.parametrize("proof", ["join-aware-path", "transfer-aware-path", "destructive"])
def test_no_name_is_cut_inside_a_word(proof: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that at 80 columns names of bounds and instances stay whole, or go on below after a hyphen."""
    monkeypatch.setenv("COLUMNS", "80")
    rows = [[name, "14", "23", "3", "1234 *", proof, "12.34"] for name in NAMES]
    table = text_table(HEADINGS, rows, numbers=("tasks", "edges", "GPUs", "bound", "seconds"))
    assert max(map(len, table.splitlines())) <= 80
    assert all(name in table for name in NAMES)
    pieces = {piece for line in _lines(table) for piece in line.split()}
    words = {"14", "23", "3", "1234", "*", "12.34", *NAMES}
    parts = proof.split("-")
    heads = {
        "-".join(parts[start:end]) + ("-" if end < len(parts) else "")
        for start in range(len(parts))
        for end in range(start + 1, len(parts) + 1)
    }
    assert pieces <= words | heads


def test_table_is_as_wide_as_its_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that where there is room nothing is wrapped, whatever there is more of."""
    monkeypatch.setenv("COLUMNS", "100")
    table = text_table(["a", "b"], [["one-two three", "1"], ["x", "22"]], numbers=["b"])
    assert _lines(table) == [" one-two three   1", " x              22"]


def test_widest_column_gives_way_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a long text is wrapped between words before a short one and before the first column."""
    monkeypatch.setenv("COLUMNS", "40")
    table = text_table(["name", "what", "why"], [["first-column", "some words that go on and on", "short one"]])
    lines = _lines(table)
    assert lines[0].split()[0] == "first-column"
    assert "short one" in lines[0]
    assert len(lines) > 1
    words = " ".join(line.replace("short one", "") for line in lines).split()
    assert words == ["first-column", "some", "words", "that", "go", "on", "and", "on"]


@pytest.mark.parametrize("columns", range(12, 60, 7))
def test_nothing_is_lost_in_narrow_terminals(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that every letter is there and no line is longer than the terminal."""
    monkeypatch.setenv("COLUMNS", str(columns))
    row = ["first-column", "transfer-aware-path", "12345"]
    table = text_table(["name", "bound", "value"], [row], numbers=["value"])
    assert max(map(len, table.splitlines())) <= columns
    shown = "".join("".join(line.split()) for line in _lines(table))
    assert sorted(shown) == sorted("".join(row))


def test_caption_and_empty_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a table without rows shows headings, title and caption."""
    monkeypatch.setenv("COLUMNS", "80")
    table = text_table(["a"], [], title="t", caption="c\nd")
    assert [table.splitlines()[0], *table.splitlines()[-2:]] == ["t", "c", "d"]
