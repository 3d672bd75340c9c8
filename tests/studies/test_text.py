"""Tests of gaps as texts, and of labels and texts in aligned lines."""

from __future__ import annotations

import pytest

from studies.text import WIDTH, aligned, percent


@pytest.mark.parametrize(
    ("gap", "text"),
    [(None, "-"), (0.0, "0.00"), (1e-6, "<0.01"), (0.00005, "0.01"), (0.1234567, "12.35"), (3.0, "300.00")],
)
def test_only_the_optimum_is_zero(gap: float | None, text: str) -> None:
    """Tests that gaps have two decimals, and that a tiny gap is not shown as none."""
    assert percent(gap) == text


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
