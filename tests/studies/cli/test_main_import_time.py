"""Tests that the command line starts without what it does not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.whole

ROOT = Path(__file__).parents[3]
HEAVY = (
    *("numpy", "numba", "ortools", "highspy", "matplotlib", "networkx", "deap", "pydot", "scipy", "pandas"),
    *("jax", "optax"),
)


def _imported(*arguments: str) -> set[str]:
    """Return the top-level packages that a command imports, from the interpreter's own list."""
    command = [sys.executable, "-X", "importtime", "-m", "studies.cli.main", *arguments]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = [line for line in ended.stderr.splitlines() if line.startswith("import time:")]
    assert len(lines) > 50
    return {line.rpartition("|")[2].strip().split(".")[0] for line in lines}


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("solve", "--help"), ("study", "run", "--help"), ("--version",), ("solve", "--sed", "1")],
)
def test_help_and_misuse_import_nothing_heavy(arguments: tuple[str, ...]) -> None:
    """Tests that neither help nor a usage error imports NumPy, solvers, plots or Rich."""
    imported = _imported(*arguments)
    assert "typer" in imported
    assert imported.isdisjoint({*HEAVY, "rich"})


def test_list_schedule_imports_no_solver(example_file: str, tmp_path: Path) -> None:
    """Tests that HEFT on a file imports no exact solver, no plots and no graph library."""
    imported = _imported("solve", str(tmp_path / example_file), "--method", "heft", "--json")
    assert {"numpy", "numba"} <= imported
    assert imported.isdisjoint({"ortools", "matplotlib", "networkx", "deap", "pydot", "pandas", "rich"})
