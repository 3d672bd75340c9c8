"""How long a user waits for the command line."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from instances.dag.json import write_dag_instance
from instances.generators.dag.generate import generate

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.speed
COMMAND = [sys.executable, "-c", "from studies.cli.main import main; main()"]


def _run(*arguments: str) -> str:
    """Run the command in a process of its own and return what it prints."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=True).stdout


def test_help(benchmark: BenchmarkFixture) -> None:
    """Tests that --help names the commands; times it from process start to end."""
    assert "solve" in benchmark.pedantic(_run, ("--help",), rounds=5, warmup_rounds=1)


def test_heft_from_start_to_answer(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """Tests that HEFT answers on a 20-task instance; times it from process start to end with warm caches."""
    path = tmp_path / "instance.json"
    write_dag_instance(generate("layered", tasks=20, seed=1), path)
    arguments = ("solve", str(path), "--method", "heft", "--json")
    assert '"objective"' in benchmark.pedantic(_run, arguments, rounds=5, warmup_rounds=1)
