"""Tests of the demo: what it writes, and what it says."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest

from instances.dag.json import read_dag_instance, read_dag_schedule
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from solvers.methods import METHODS
from solvers.run.outcome import Status
from studies.analysis.gap_table import gap_table
from studies.report.demo import DEMO_INSTANCES, HEURISTIC_KINDS, demo, demo_instances

if TYPE_CHECKING:
    from pathlib import Path

    from instances.dag.instance import DagInstance
    from tests.studies.run_command import Run


def test_demo_writes_everything_down(example_e: DagInstance, no_room: DagInstance, tmp_path: Path) -> None:
    """Tests that every method runs against the proven optimum, and that all files are there and right."""
    heard: list[tuple[str, int, int]] = []
    results = demo([example_e, no_room], tmp_path, threads=1, on_run=lambda *state: heard.append(state))
    run = ["cp-sat", *(name for name, method in METHODS.items() if method.kind in HEURISTIC_KINDS)]
    assert [result.method for result in results] == [*run, *run]
    assert [result.objective for result in results if result.method == "cp-sat"] == [15, 4]
    assert all(result.gap_kind == "optimality gap" for result in results if result.schedule is not None)
    assert gap_table(results).is_proven
    for result in results:
        path = tmp_path / "schedules" / f"{result.instance.name}.{result.method}.json"
        assert path.exists() == (result.schedule is not None)
        if result.schedule is not None:
            instance = read_dag_instance(tmp_path / "instances" / f"{result.instance.name}.json")
            assert verify_dag_schedule(instance, read_dag_schedule(path, instance)) == []
    document = json.loads((tmp_path / "results.json").read_text())
    assert [item["objective"] for item in document["results"]] == [result.objective for result in results]
    assert (tmp_path / "report.html").read_text().count("no-room") > 2
    assert heard[0] == ("loading kernels (compiled on first use, about 20 s)", 0, 2 * len(run))
    assert heard[-1] == ("writing the report", 2 * len(run), 2 * len(run))


def test_demo_is_honest_without_a_proof(tmp_path: Path) -> None:
    """Tests that a time limit without a proof leads to gaps to a lower bound, and that the report says so."""
    hard = generate("fft", tasks=30, seed=1)
    results = demo([hard], tmp_path, threads=1, time_limit=1e-9)
    table, report = gap_table(results), (tmp_path / "report.html").read_text()
    assert table.num_proven == 0
    assert {result.gap_kind for result in results} == {"gap to lower bound"}
    assert "The optimum is proven for 0 of 1 instances" in report
    assert f">{hard.name} *</th>" in report


def test_methods_share_the_seed_of_an_instance(example_e: DagInstance, no_room: DagInstance, tmp_path: Path) -> None:
    """Tests that runs are paired: one seed per instance, another one for another study seed."""
    first = demo([example_e, no_room], tmp_path, seed=1, threads=1)
    seeds = [{result.seed for result in first if result.instance is instance} for instance in (example_e, no_room)]
    other = {result.seed for result in demo([example_e], tmp_path, seed=2, threads=1)}
    assert [len(found) for found in (*seeds, other)] == [1, 1, 1]
    assert len(seeds[0] | seeds[1] | other) == 3


def test_command_prints_both_tables(
    run: Run, example_e: DagInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that the command prints instances, gaps and where the report is, in 80 columns."""
    monkeypatch.setattr("studies.report.demo.demo_instances", lambda seed: [example_e])
    ended = run("demo", "--out", "out", "--threads", "1")
    assert (ended.status, ended.err) == (0, "")
    assert "Every bound is the optimum." in ended.out
    assert "report: out/report.html\n" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    as_json = run("demo", "--out", "out", "--threads", "1", "--json")
    assert as_json.document["gap_table"]["num_proven"] == 1
    assert (tmp_path / as_json.document["report"]).exists()


def test_ctrl_c_ends_the_demo(run: Run, example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that Ctrl-C in a run ends the whole demo with status 130 and without a traceback."""
    monkeypatch.setattr("studies.report.demo.demo_instances", lambda seed: [example_e])
    monkeypatch.setattr("studies.report.demo.load_kernels", lambda: None)
    monkeypatch.setattr("studies.cli.progress.RunProgress.update", lambda *state: signal.raise_signal(signal.SIGINT))
    ended = run("demo", "--out", "out")
    assert (ended.status, ended.out, ended.err.strip()) == (130, "", "")


def test_instances_are_what_the_demo_promises() -> None:
    """Tests families, sizes, unlike GPUs, tight memory, barred GPUs and several jobs."""
    instances = demo_instances(0)
    assert len({item.family for item in DEMO_INSTANCES}) == len(DEMO_INSTANCES) == 10
    assert len({instance.name for instance in instances}) == len(instances) == 11
    assert all(8 <= instance.num_tasks <= 20 and 3 <= instance.num_gpus <= 4 for instance in instances)
    assert all(len(set(instance.gpu_kinds)) > 2 for instance in instances)
    assert sum(instance.task_memory.sum() > 0.7 * instance.gpu_memory.sum() for instance in instances) == 2
    assert sum(instance.num_jobs > 1 for instance in instances) == 1
    assert any((instance.durations < 0).any() for instance in instances)
    assert instances[-1].sha256 == demo_instances(1)[-1].sha256


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_whole_demo_is_proved(seed: int, tmp_path: Path) -> None:
    """Tests that every instance of the demo is proved within its time limit, whatever the seed."""
    results = demo(demo_instances(seed), tmp_path, seed=seed)
    assert gap_table(results).is_proven
    assert all(result.status is Status.OPTIMAL for result in results if result.method == "cp-sat")
    assert len((tmp_path / "report.html").read_bytes()) < 1_000_000
