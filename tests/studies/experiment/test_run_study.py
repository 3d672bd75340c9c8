from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from instances import dag_schedule_from_json, objective_value
from instances.verify_dag_schedule import verify_dag_schedule
from solvers.contradiction import ContradictionError
from studies.experiment.run_study import run_study
from studies.experiment.study_frame import to_frame
from studies.experiment.study_store import DATABASE, StudyStore
from tests.studies.experiment.study_specs import MY_METHODS, SMALL, small_spec

if TYPE_CHECKING:
    from studies.experiment.study_state import StudyState

ROOT = Path(__file__).parents[3]
DETERMINISTIC = "sha256, label, budget, repetition, seed, objective, bound, evaluations, schedule, state"


@pytest.fixture
def my_methods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the module `my_methods` importable, here and in workers."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "my_methods.py").write_text(MY_METHODS)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the small study without any disturbance."""
    folder = tmp_path_factory.mktemp("finished")
    run_study(small_spec(), folder, workers=1)
    return folder


def _answers(folder: Path) -> list[tuple[object, ...]]:
    """Return every deterministic column of the planned runs."""
    with StudyStore(folder) as store:
        rows = store.select(f"SELECT {DETERMINISTIC} FROM runs WHERE is_planned = 1 ORDER BY position")
    return [tuple(row) for row in rows]


def test_everything_is_stored(finished: Path) -> None:
    """Tests that every run is there with a schedule that verifies, its trace, versions, hardware and revision."""
    with StudyStore(finished) as store:
        assert store.counts() == {"pending": 0, "running": 0, "finished": 24, "failed": 0}
        assert store.select("SELECT * FROM owners") == []
        for row in store.select("SELECT * FROM runs WHERE phase != 'bound'"):
            instance = store.instance(row["sha256"])
            document = json.loads(row["schedule"])
            names = {"instance": instance.name, "instance_sha256": instance.sha256}
            text = json.dumps({"format": "optgap/dag-schedule", "version": 1, **names, **document})
            schedule = dag_schedule_from_json(text, instance)
            assert verify_dag_schedule(instance, schedule) == []
            assert objective_value(instance, schedule, "makespan") == row["objective"]
            points = json.loads(row["trace"])
            assert points[-1][2] == row["objective"]
            assert row["seconds"] >= points[-1][0] - 1e-3 if row["kind"] == "search" else row["seconds"] > 0
        searches = store.select("SELECT * FROM runs WHERE kind = 'search'")
        assert all(row["evaluations"] == row["budget_evaluations"] for row in searches)
        assert all(row["bound"] is None for row in searches)
        assert {row["termination"] for row in searches} == {"evaluations"}
        (environment,) = store.select("SELECT content FROM environments")
        content = json.loads(environment["content"])
        assert content["versions"]["numpy"]
        assert content["hardware"]
        assert "revision" in content
        (study,) = store.select("SELECT * FROM study")
        assert (study["name"], study["specification"]) == ("small", SMALL)


def test_a_finished_study_is_not_repeated(finished: Path) -> None:
    """Tests that nothing runs again, and that only the changed method of a changed specification runs."""
    with StudyStore(finished) as store:
        before = [tuple(row) for row in store.select("SELECT key, ended_at, seconds FROM runs ORDER BY key")]
    states: list[StudyState] = []
    state = run_study(small_spec(), finished, workers=1, on_state=states.append)
    assert (state.planned, state.finished, state.pending) == (24, 24, 0)
    with StudyStore(finished) as store:
        after = [tuple(row) for row in store.select("SELECT key, ended_at, seconds FROM runs ORDER BY key")]
    assert after == before
    changed = small_spec(("population = 5", "population = 4"))
    assert run_study(changed, finished, workers=1).finished == 24
    with StudyStore(finished) as store:
        rows = store.select("SELECT key, ended_at, seconds, is_planned, method FROM runs ORDER BY key")
    assert set(before) < {tuple(row)[:3] for row in rows}
    assert len(rows) == 24 + 8
    assert {row["method"] for row in rows if not row["is_planned"]} == {"woa"}
    run_study(small_spec(), finished, workers=1)


@pytest.mark.parametrize(
    "moments", [(9,), pytest.param((0, 1, 2, 4, 7, 10, 13, 16, 19, 22), marks=pytest.mark.slow)], ids=["once", "often"]
)
def test_a_killed_study_resumes(finished: Path, tmp_path: Path, moments: tuple[int, ...]) -> None:
    """Tests that SIGKILL loses the runs in flight only, and that the end is that of an undisturbed study."""
    (tmp_path / "small.toml").write_text(SMALL)
    folder, done = tmp_path / "out", 0
    for wanted in moments:
        process = _process(tmp_path / "small.toml", folder, workers=2)
        try:
            while (done := _num_done(folder)) < wanted and process.poll() is None:
                time.sleep(0.005)
        finally:
            process.kill()
            process.wait()
        left = _num_done(folder)
        assert left >= done >= wanted
    state = run_study(small_spec(), folder, workers=2)
    assert (state.planned, state.finished, state.running) == (24, 24, 0)
    assert _answers(folder) == _answers(finished)


def test_two_processes_share_a_study(finished: Path, tmp_path: Path) -> None:
    """Tests that two processes at once make every run once, with the answers of one process."""
    (tmp_path / "small.toml").write_text(SMALL)
    processes = [_process(tmp_path / "small.toml", tmp_path / "out", workers=1) for _ in range(2)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    assert _answers(tmp_path / "out") == _answers(finished)


@pytest.mark.usefixtures("my_methods")
def test_bad_methods_become_rows(tmp_path: Path) -> None:
    """Tests that exceptions, dead, endless and greedy runs are recorded as failed, and all others are made."""
    names = ("good", "is_cold", "raises", "dies", "hangs", "hoards", "overlaps", "prints")
    methods = "".join(f'\n[[methods]]\nlabel = "{name}"\nmethod = "my_methods:{name}"\n' for name in names)
    spec = small_spec(("[6, 8]", "8"), more=f"{methods}\n[limits]\nrun_seconds = 3\nmemory_gib = 16\n")
    state = run_study(spec, tmp_path / "out", workers=1)
    assert (state.finished, state.failed, state.pending) == (15, 5, 0)
    with StudyStore(tmp_path / "out") as store:
        frame = to_frame(store).set_index("label")
    error_of = frame["error"].dropna().to_dict()
    assert set(error_of) == {"raises", "dies", "hangs", "hoards", "overlaps"}
    assert error_of["raises"] == "RuntimeError: no luck today"
    assert error_of["dies"] == "WorkerDied: the process of the run ended with status 7."
    assert error_of["hangs"] == "TimeLimit: the run was killed after its limit of 3 s."
    assert "MemoryError" in error_of["hoards"]
    assert error_of["overlaps"].startswith("UnverifiedScheduleError: overlaps: schedule with ")
    assert set(frame.loc[list(error_of), "status"]) == {"failed"}
    assert frame.loc["is_cold", "status"] != "failed"  # the warm-up met what the first call costs
    assert frame.loc["good", "objective"] == frame.loc["prints", "objective"] == frame.loc["heft", "objective"]
    with StudyStore(tmp_path / "out") as store:
        before = len(store.done_keys())
    assert run_study(spec, tmp_path / "out", workers=1).failed == 5  # failures are not repeated
    with StudyStore(tmp_path / "out") as store:
        assert len(store.done_keys()) == before


@pytest.mark.usefixtures("my_methods")
def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    """Tests that an interrupt in the main thread ends the workers and leaves a store that resumes."""
    spec = small_spec(more='\n[[methods]]\nlabel = "slow"\nmethod = "my_methods:is_slow"\n')

    def interrupt(state: StudyState) -> None:
        if state.finished >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(spec, tmp_path / "out", workers=1, on_state=interrupt)
    with StudyStore(tmp_path / "out") as store:
        counts = store.counts()
        assert counts["running"] == 0
        assert 4 <= counts["finished"] < 26
        assert store.select("SELECT * FROM owners") == []
    assert run_study(spec, tmp_path / "out", workers=1).finished == 26


@pytest.mark.usefixtures("my_methods")
def test_the_alarm_is_on(tmp_path: Path) -> None:
    """Tests that a bound above a schedule stops a study, in a run and in what is stored, with a reproducer."""
    spec = small_spec(("[6, 8]", "6"))
    run_study(spec, tmp_path / "out", workers=1)
    with sqlite3.connect(tmp_path / "out" / DATABASE) as database:
        database.execute("UPDATE runs SET bound = 10000 WHERE kind = 'bound' AND method = 'area'")
    database.close()
    message = r"area claims a bound of 10000 for 'layered-6-.*, .* has a verified schedule of"
    with StudyStore(tmp_path / "out") as store, pytest.raises(ContradictionError, match=message):
        to_frame(store)
    assert list(tmp_path.glob("optgap-reproducer-*.json"))
    with sqlite3.connect(tmp_path / "out" / DATABASE) as database:
        database.execute("UPDATE runs SET state = 'pending' WHERE kind NOT IN ('bound')")
    database.close()
    with pytest.raises(ContradictionError, match="ContradictionError: The bound 10000 of area exceeds the objective"):
        run_study(spec, tmp_path / "out", workers=1)
    with StudyStore(tmp_path / "out") as store:
        assert store.counts()["failed"] == 1


def test_plans_are_checked_before_anything_is_written(tmp_path: Path) -> None:
    """Tests that a specification that cannot be carried out leaves no folder."""
    with pytest.raises(ValueError, match=r"methods\[2\].parameters: expected a parameter of woa"):
        run_study(small_spec(("population", "popluation")), tmp_path / "out")
    with pytest.raises(ValueError, match=r"workers: expected at least 1, got 0\."):
        run_study(small_spec(), tmp_path / "out", workers=0)
    assert not (tmp_path / "out").exists()


def _process(spec: Path, folder: Path, *, workers: int) -> subprocess.Popen[bytes]:
    """Start the command in a process of its own."""
    command = [sys.executable, "-m", "studies.cli", "study", "run", str(spec), "--out", str(folder)]
    return subprocess.Popen(
        [*command, "--workers", str(workers)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _num_done(folder: Path) -> int:
    """Count the finished runs of a study that is running."""
    try:
        with StudyStore(folder) as store:
            return store.counts()["finished"]
    except (FileNotFoundError, ValueError, sqlite3.OperationalError):
        return 0
