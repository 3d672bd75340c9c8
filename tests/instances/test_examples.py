"""Runs the examples in docstrings of the instances."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize("module", ["instances.dag.instance", "instances.dag.conversion", "instances.jobs.instance"])
def test_examples_in_docstrings(module: str) -> None:
    """Tests that every example gives what its docstring shows."""
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted >= 2
    assert found.failed == 0
