"""Tests that the way from the command to a kernel is the one that the manual shows."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import heuristics.dag.random_keys as random_keys
from instances.dag.json import write_dag_instance
from studies.cli.main import main

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance

ROOT = Path(__file__).parents[2]
PACKAGES = ("optgap", "instances", "formulations", "heuristics", "solvers", "studies")


def test_the_way_to_the_kernel(example_e: DagInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that `solve --method woa` passes at most 7 functions in 6 files, those of the table in docs/house.md."""
    write_dag_instance(example_e, tmp_path / "e.json")
    kernel, stacks = random_keys.evaluate_keys, []

    def watched(*arguments: Any, **named: Any) -> Any:
        frames = [frame for frame in inspect.stack()[1:] if Path(frame.filename).is_relative_to(ROOT)]
        ours = [(frame.function, str(Path(frame.filename).relative_to(ROOT))) for frame in frames]
        stacks.append([(name, file) for name, file in reversed(ours) if file.split("/")[0] in PACKAGES])
        return kernel(*arguments, **named)

    monkeypatch.setattr(random_keys, "evaluate_keys", watched)
    with pytest.raises(SystemExit):
        main(["solve", str(tmp_path / "e.json"), "--method", "woa", "--evaluations", "5", "--json"])
    way = stacks[0]
    assert all(stack == way for stack in stacks)
    assert len(way) <= 7
    assert len({file for _, file in way}) <= 6
    page = (ROOT / "docs" / "house.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d \| `(?:\w+\.)?(\w+)` \| `([\w/.]+)` \|$", page, re.MULTILINE)
    assert rows == way
