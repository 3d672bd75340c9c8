"""Tests that the worked examples of the guide to extensions work as they stand."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from heuristics.jobs.placements.registry import PLACEMENTS
from heuristics.jobs.predictors.predictor import PREDICTORS
from instances.dag.objective import Objective
from instances.generators.dag.generate import FAMILIES
from instances.readers.dag.read import READERS
from solvers.bound_methods import BOUND_METHODS
from solvers.methods import JOBS_METHODS, METHODS

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
REGISTRIES = (METHODS, JOBS_METHODS, BOUND_METHODS, PLACEMENTS, PREDICTORS, FAMILIES, READERS)


@pytest.mark.slow
def test_every_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the files, registry lines and uses run in the order of the page, each with what it asserts."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) > 12
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{PAGE.parents[1]}")
    for registry in REGISTRIES:
        for name in registry:
            monkeypatch.setitem(registry, name, registry[name])  # restores the registry's content at the end
    before = [set(registry) for registry in REGISTRIES]
    names: dict[str, object] = {"Objective": Objective}
    try:
        for block in blocks:
            if file := re.match(r"# file: (\w+\.py)\n", block):
                (tmp_path / file[1]).write_text(block, encoding="utf-8")
            else:
                exec(compile(block, str(PAGE), "exec"), names)
        assert all(len(set(registry) - known) == 1 for registry, known in zip(REGISTRIES, before, strict=True))
    finally:
        for registry, known in zip(REGISTRIES, before, strict=True):
            for name in set(registry) - known:
                del registry[name]
