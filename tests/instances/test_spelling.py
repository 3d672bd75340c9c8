"""Tests of what a misspelt name may mean."""

from __future__ import annotations

import pytest

from instances.fields import Fields
from instances.spelling import did_you_mean, nearest, typing_errors
from solvers.methods import METHODS


@pytest.mark.parametrize(
    ("one", "other", "errors"),
    [("heft", "heft", 0), ("hetf", "heft", 1), ("etf", "hetf", 1), ("ca", "abc", 3), ("", "abc", 3), ("abc", "", 3)],
)
def test_typing_errors(one: str, other: str, errors: int) -> None:
    """Tests that swapped neighbours are one error, and that no piece of a text is edited twice."""
    assert typing_errors(one, other) == typing_errors(other, one) == errors


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("hetf", ["heft"]),
        ("cpsat", ["cp-sat"]),
        ("CP_SAT", ["cp-sat"]),
        ("worlrtgs", ["worl-rtgs"]),
        ("wao", ["woa"]),
        ("down", ["down-sets"]),
        ("tabu", []),
        ("gurobi-xyz", []),
        ("x", []),
        ("", []),
        ("heft" * 10_000, []),
    ],
)
def test_nearest_method(text: str, meant: list[str]) -> None:
    """Tests that the method that is meant is found, and none where nothing is near."""
    assert nearest(text, METHODS) == meant


def test_several_names_are_equally_near() -> None:
    """Tests that names that contain a text come before those that are spelt alike, and that ties are all named."""
    assert did_you_mean("v100", ["P100", "V100-16GB", "V100-32GB"]) == " (did you mean V100-16GB or V100-32GB?)"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"taks": []}, "tasks: expected a list, got the key 'taks' (did you mean tasks?)."),
        ({"tasks": [], "tsks": []}, "tsks: expected no such key (did you mean tasks?)."),
        ({"tasks": [], "colour": []}, "colour: expected no such key."),
    ],
)
def test_misspelt_keys(document: dict[str, object], message: str) -> None:
    """Tests that a misspelt key of a JSON document is recognised, whether the right one must be there or not."""
    fields = Fields(document)
    with pytest.raises(ValueError) as caught:
        fields.entries("tasks")
        fields.close()
    assert str(caught.value) == message
