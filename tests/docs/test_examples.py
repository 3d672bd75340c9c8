"""Tests that the reference of public names has examples, and that they give what they show."""

from __future__ import annotations

import doctest
import inspect
import sys
from typing import TYPE_CHECKING

import pytest

import optgap

if TYPE_CHECKING:
    from pathlib import Path

SLOW = {"check_method": "runs the whole kit", "run_study": "starts processes"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in optgap.__all__]
)
def test_examples_of_a_public_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a name has an example in its docstring or in that of a method, and that all of them hold."""
    monkeypatch.chdir(tmp_path)
    thing = getattr(optgap, name)
    home = sys.modules[(thing.__func__ if inspect.ismethod(thing) else thing).__module__]
    tests = [test for test in doctest.DocTestFinder(recurse=True).find(thing, name, home) if test.examples]
    assert tests
    for test in tests:
        result = doctest.DocTestRunner().run(test)
        assert result.failed == 0
        assert result.attempted > 1
