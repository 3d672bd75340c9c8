"""Tests of the demo: what it runs, what it writes, and what it says."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from instances.dag.instance import DagInstance
from instances.dag.json import read_dag_schedule, write_dag_instance
from instances.dag.verify import verify_dag_schedule
from solvers.methods import METHODS
from studies.cli.demo import demo_spec
from studies.experiment.instances import expand_instances
from studies.experiment.plan import study_plan
from studies.experiment.read_specification import study_spec_from_toml
from studies.experiment.store import StudyStore
from tests.studies.report.page_structure import PageStructure

if TYPE_CHECKING:
    from pathlib import Path

    from studies.experiment.specification import StudySpec
    from tests.studies.run_command import Run

pytestmark = pytest.mark.whole

HEURISTIC_KINDS = ("construction", "search")

METHODS_OF_TESTS = "".join(f'[[methods]]\nmethod = "{name}"\n' for name in ("heft", "round-robin", "random-search"))


def small_demo(tmp_path: Path, instances: list[DagInstance], time_limit: float = 20.0) -> StudySpec:
    """Return the study of the demo with fewer instances, methods and evaluations."""
    for instance in instances:
        write_dag_instance(instance, tmp_path / f"{instance.name}.json")
    return study_spec_from_toml(
        f"""
study.name = "demo"
reference.bounds = []
[[instances]]
files = "*.json"
{METHODS_OF_TESTS}
[[budgets]]
evaluations = 20
[[reference.exact]]
method = "cp-sat"
time_limit = {time_limit}
""",
        folder=tmp_path,
    )


def test_specification_is_what_the_demo_promises() -> None:
    """Tests methods, families, sizes, unlike GPUs, tight memory, barred GPUs, several jobs, and that seeds matter."""
    spec = demo_spec(seed=0, threads=3, time_limit=7.5)
    assert [method.method for method in spec.methods] == [
        name
        for name, method in METHODS.items()
        if method.kind in HEURISTIC_KINDS and name != "wspt"  # for single weighted tasks
    ]
    assert [(exact.method, exact.threads, exact.time_limit) for exact in spec.exact] == [("cp-sat", 3, 7.5)]
    items = expand_instances(spec)
    instances = [item.instance for item in items if isinstance(item.instance, DagInstance)]
    assert len({item.family for item in items}) == len({instance.name for instance in instances}) == 11
    assert all(8 <= instance.num_tasks <= 20 and 3 <= instance.num_gpus <= 4 for instance in instances)
    assert all(len(set(instance.gpu_kinds)) > 2 for instance in instances)
    assert sum(instance.task_memory.sum() > 0.7 * instance.gpu_memory.sum() for instance in instances) == 2
    assert sum(instance.num_jobs > 1 for instance in instances) == 1
    assert any((instance.durations < 0).any() for instance in instances)
    other = demo_spec(seed=1, threads=1, time_limit=1.0)
    assert (spec.seed, other.seed) == (0, 1)
    same = {item.instance.sha256 for item in items} & {item.instance.sha256 for item in expand_instances(other)}
    assert same == {instances[-1].sha256}  # the bundled one
    seeds: dict[str, set[int]] = {}
    for run in study_plan(spec, items).runs:
        if run.seed:
            seeds.setdefault(run.sha256, set()).add(run.seed)
    assert [len(found) for found in seeds.values()] == [1] * 11  # runs are paired


@pytest.mark.slow
@pytest.mark.usefixtures("runs_here")
def test_command_writes_everything_down(
    run: Run, example_e: DagInstance, no_room: DagInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests the two tables in 80 columns, and that instances, schedules, results and report are there and right."""
    spec = small_demo(tmp_path, [example_e, no_room])
    monkeypatch.setattr("studies.cli.demo.demo_spec", lambda **_: spec)
    monkeypatch.setenv("COLUMNS", "80")
    ended = run("demo", "--out", "out", "--threads", "1")
    assert (ended.status, ended.err) == (0, "")
    assert "Every bound is the optimum." in ended.out
    assert "report: out/report.html\n" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    as_json = run("demo", "--out", "out", "--threads", "1", "--json")
    assert as_json.document["gap_table"]["num_proven"] == 2
    methods = {row["label"]: row for row in as_json.document["gap_table"]["methods"]}
    assert set(methods) == {"heft", "round-robin", "random-search"}
    assert methods["round-robin"]["num_without_schedule"] == 1
    folder = tmp_path / "out"
    with StudyStore(folder) as store:
        for instance in (example_e, no_room):
            assert store.instance(instance.sha256).sha256 == instance.sha256
    for name in ("cp-sat", "heft"):
        schedule = read_dag_schedule(folder / "schedules" / f"E.{name}.json", example_e)
        assert verify_dag_schedule(example_e, schedule) == []
    assert not (folder / "schedules" / "no-room.round-robin.json").exists()
    assert len(pd.read_csv(folder / "results.csv")) == 6
    page = PageStructure((folder / "report.html").read_text(encoding="utf-8"))
    assert page.rows["results-20-evaluations-by-instance"][0][0] == "E"
    assert page.figures["schedule-1-best"].startswith("E: cp-sat. Objective 15 ticks, gap 0.00 %.")
    assert page.figures["schedule-1-other"].startswith("E: heft. Objective 18 ticks, gap 20.00 %.")


def test_ctrl_c_ends_the_demo(
    run: Run, example_e: DagInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that Ctrl-C in a run ends the whole demo with status 130 and without a traceback."""
    spec = small_demo(tmp_path, [example_e])
    monkeypatch.setattr("studies.cli.demo.demo_spec", lambda **_: spec)
    update = "studies.cli.study_progress.StudyProgress.show"
    monkeypatch.setattr(update, lambda *state: signal.raise_signal(signal.SIGINT))
    ended = run("demo", "--out", "out")
    assert (ended.status, ended.out, ended.err.strip()) == (130, "", "")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_whole_demo_is_proved(run: Run, seed: int, tmp_path: Path) -> None:
    """Tests that every instance of the demo is proved within its time limit, whatever the seed."""
    ended = run("demo", "--out", "out", "--seed", str(seed), "--json")
    assert ended.document["gap_table"]["num_proven"] == 11
    assert len((tmp_path / "out" / "report.html").read_bytes()) < 2_000_000
