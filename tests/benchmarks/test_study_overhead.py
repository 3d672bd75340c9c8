"""What a run of a study costs outside the run itself: store, orders, pipes, state."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from studies.experiment import worker as worker_connection
from studies.experiment.read_specification import study_spec_from_toml
from studies.experiment.run_study import run_study
from tests.benchmarks.timed_worker_process import FOLDER, seconds_inside

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

    from studies.experiment.run_study import StudyState

pytestmark = pytest.mark.speed

SPEC = """
[study]
name = "trivial"
repetitions = 1500

[[instances]]
family = "layered"
tasks = [8, 10]
cluster = "mixed-2"

[[methods]]
method = "random"

[reference]
bounds = ["critical-path"]

[limits]
run_seconds = 60
memory_gib = 8
"""

FIRST, RUNS = 200, 3002
"""Steady state begins with so many of all runs: processes have begun, kernels are compiled."""


@pytest.mark.parametrize("workers", [1, 2])
def test_overhead_of_store_and_executor(
    benchmark: BenchmarkFixture, workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that 3,000 trivial runs are made; reports the time per run that is not spent inside `execute_run`."""
    monkeypatch.setattr(worker_connection, "WORKER_MODULE", "tests.benchmarks.timed_worker_process")
    (inside := tmp_path / "inside").mkdir()
    monkeypatch.setenv(FOLDER, str(inside))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    marks: list[tuple[int, float, float, float]] = []

    def mark(state: StudyState) -> None:
        marks.append((state.finished, time.perf_counter(), time.process_time(), seconds_inside(inside)))

    def study() -> StudyState:
        return run_study(study_spec_from_toml(SPEC), tmp_path / "out", workers=workers, on_state=mark)

    state = benchmark.pedantic(study, rounds=1)
    assert (state.finished, state.failed) == (RUNS, 0)
    steady = [entry for entry in marks[:-1] if FIRST <= entry[0] < RUNS]
    runs, wall, cpu, within = (last - first for first, last in zip(steady[0], steady[-1], strict=True))
    figures = {
        "overhead_ms": 1e3 * (wall - within / workers) / runs,
        "overhead_per_worker_ms": 1e3 * (workers * wall - within) / runs,
        "parent_cpu_ms": 1e3 * cpu / runs,
        "inside_ms": 1e3 * within / runs,
    }
    benchmark.extra_info.update(figures)
    print(f"\n{workers} workers, {runs} runs: " + ", ".join(f"{key} {value:.3f}" for key, value in figures.items()))
