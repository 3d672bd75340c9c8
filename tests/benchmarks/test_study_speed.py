"""How long a user waits for the tables and figures of a study of 10,000 runs; each must be there in under five seconds.

Timed from process start to end, all imports included.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.studies.analysis.large_study import large_study

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.speed
COMMAND = [sys.executable, "-c", "from studies.cli.main import main; main()", "study"]
METHODS, RUNS = 25, 10_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 instances, 25 methods, 10 seeds, with traces and schedules."""
    folder = tmp_path_factory.mktemp("large")
    with large_study(folder, methods=METHODS) as store:
        assert len(store.select("SELECT key FROM runs WHERE phase = 'method' AND state = 'finished'")) == RUNS
    return folder


def _run(*arguments: str) -> str:
    """Run a command in a process of its own and return what it prints."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=True).stdout


def test_table(benchmark: BenchmarkFixture, folder: Path) -> None:
    """Tests that the table with tests against a baseline names every method; times it."""
    arguments = ("table", str(folder), "--baseline", "woa, 3 whales")
    text = benchmark.pedantic(_run, arguments, rounds=3, warmup_rounds=1)
    assert all(f"woa, {3 + number} whales" in text for number in range(METHODS))


def test_all_tables(benchmark: BenchmarkFixture, folder: Path) -> None:
    """Tests that gaps by family and size, bounds and targets are all there; times them together."""
    arguments = ("table", str(folder), "--what", "gaps,bounds,targets", "--by", "family,size")
    text = benchmark.pedantic(_run, arguments, rounds=3, warmup_rounds=1)
    assert text.count("Ratio of lower bounds") == 3


def test_all_figures(benchmark: BenchmarkFixture, folder: Path, tmp_path: Path) -> None:
    """Tests that all eleven figures are written; times them together."""
    benchmark.pedantic(_run, ("plot", str(folder), "--out", str(tmp_path)), rounds=3, warmup_rounds=1)
    assert len(list(tmp_path.glob("*.png"))) == 11
