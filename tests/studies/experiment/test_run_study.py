"""Tests of running, resuming and changing a study."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from instances.dag.json import dag_schedule_from_json
from instances.dag.objective import objective_value
from instances.dag.verify import verify_dag_schedule
from solvers.run.contradiction import ContradictionError
from studies.analysis.frames import to_frame
from studies.experiment.executor import ExecutedRun, ExecutorError, SlotLostError
from studies.experiment.instances import expand_instances
from studies.experiment.plan import plan_seconds, study_plan
from studies.experiment.read_specification import study_spec_from_toml
from studies.experiment.run_answer import RunAnswer, RunLimit
from studies.experiment.run_study import TimeLeft, run_study
from studies.experiment.store import DATABASE, StudyStore
from tests.studies.experiment.study_answers import answers_of, copy_study
from tests.studies.experiment.study_specs import SMALL, small_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from studies.experiment.execute_run import RunOrder
    from studies.experiment.run_study import StudyState

pytestmark = pytest.mark.whole


EXACT = ('\n[[reference.exact]]\nmethod = "cp-sat"\ntime_limit = 20\n', "")
ROOT = Path(__file__).parents[3]


def test_everything_is_stored(finished_small: Path) -> None:
    """Tests that every run is there with a schedule that verifies, its trace, versions, hardware and revision."""
    with StudyStore(finished_small) as store:
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


@pytest.mark.usefixtures("runs_here")
def test_a_finished_study_is_not_repeated(finished_small: Path, tmp_path: Path) -> None:
    """Tests that nothing runs again, and that only the changed method of a changed specification runs."""
    finished = copy_study(finished_small, tmp_path / "out")
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


@pytest.mark.slow
def test_two_processes_share_a_study(finished_small: Path, tmp_path: Path) -> None:
    """Tests that this process and another one at once make every run once, with the answers of one."""
    (tmp_path / "small.toml").write_text(SMALL)
    other = _process(tmp_path / "small.toml", tmp_path / "out", workers=1)
    while not (tmp_path / "out" / DATABASE).exists():
        time.sleep(0.02)
    run_study(study_spec_from_toml(SMALL), tmp_path / "out", workers=1)
    assert other.wait(timeout=120) == 0
    assert answers_of(tmp_path / "out") == answers_of(finished_small)


ERRORS = {
    "raises": "RuntimeError: no luck today",
    "dies": "WorkerDied: the process of the run ended with status 7.",
    "ignores_signals": "TimeLimit: the run was killed after its limit of 3 s.",
    "hoards": "MemoryError: ",
    "overlaps": "UnverifiedScheduleError: overlaps: schedule with ",
}


@pytest.mark.slow
@pytest.mark.usefixtures("my_methods")
@pytest.mark.parametrize("bad", [["raises", "dies"], list(ERRORS)], ids=len)
def test_bad_methods_become_rows(tmp_path: Path, bad: list[str]) -> None:
    """Tests that exceptions, dead, endless and greedy runs are recorded as failed, and all others are made."""
    names = ("good", "is_cold", *bad, "prints")
    methods = "".join(f'\n[[methods]]\nlabel = "{name}"\nmethod = "my_methods:{name}"\n' for name in names)
    spec = small_spec(("[6, 8]", "8"), EXACT, more=f"{methods}\n[limits]\nrun_seconds = 3\nmemory_gib = 16\n")
    state = run_study(spec, tmp_path / "out", workers=2)
    assert (state.finished, state.failed, state.pending) == (14, len(bad), 0)
    with StudyStore(tmp_path / "out") as store:
        frame = to_frame(store).set_index("label")
    error_of = frame["error"].dropna().to_dict()
    assert set(error_of) == set(bad)
    assert all(error.startswith(ERRORS[name]) for name, error in error_of.items()), error_of
    assert set(frame.loc[bad, "status"]) == {"failed"}
    assert frame.loc["is_cold", "status"] != "failed"  # the warm-up met what the first call costs
    assert frame.loc["good", "objective"] == frame.loc["prints", "objective"] == frame.loc["heft", "objective"]
    with StudyStore(tmp_path / "out") as store:
        before = len(store.done_keys())
    assert run_study(spec, tmp_path / "out", workers=1).failed == len(bad)  # failures are not repeated
    with StudyStore(tmp_path / "out") as store:
        assert len(store.done_keys()) == before


@pytest.mark.slow
@pytest.mark.usefixtures("my_methods")
def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    """Tests that an interrupt in the main thread ends the workers and leaves a store that resumes."""
    slow = '\n[[methods]]\nlabel = "slow"\nmethod = "my_methods:is_slow"\n'
    spec = study_spec_from_toml(SMALL.partition("[[reference.exact]]")[0] + slow)

    def interrupt(state: StudyState) -> None:
        if state.finished >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(spec, tmp_path / "out", workers=1, on_state=interrupt)
    with StudyStore(tmp_path / "out") as store:
        counts = store.counts()
        assert counts["running"] == 0
        assert 4 <= counts["finished"] < 24
        assert store.select("SELECT * FROM owners") == []
    assert run_study(spec, tmp_path / "out", workers=1).finished == 24


@pytest.mark.usefixtures("runs_here")
def test_the_alarm_is_on(finished_small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a bound above a schedule stops a study, in a run and in what is stored, with a reproducer."""
    monkeypatch.chdir(tmp_path)
    copy_study(finished_small, tmp_path / "out")
    with sqlite3.connect(tmp_path / "out" / DATABASE) as database:
        database.execute("UPDATE runs SET bound = 10000 WHERE kind = 'bound' AND method = 'area'")
    database.close()
    message = r"area claims a bound of 10000 for 'layered-.*, .* has a verified schedule of"
    with StudyStore(tmp_path / "out") as store, pytest.raises(ContradictionError, match=message):
        to_frame(store)
    assert list(tmp_path.glob("optgap-reproducer-*.json"))
    with sqlite3.connect(tmp_path / "out" / DATABASE) as database:
        database.execute(
            "UPDATE runs SET state = CASE kind WHEN 'exact' THEN 'failed' ELSE 'pending' END WHERE kind != 'bound'"
        )
    database.close()
    with pytest.raises(ContradictionError, match="ContradictionError: The bound 10000 of area exceeds the objective"):
        run_study(small_spec(), tmp_path / "out", workers=1)
    with StudyStore(tmp_path / "out") as store:
        assert store.counts()["failed"] == 2 + 1


def test_plans_are_checked_before_anything_is_written(tmp_path: Path) -> None:
    """Tests that a specification that cannot be carried out leaves no folder."""
    with pytest.raises(ValueError, match=r"methods\[2\].parameters: expected a parameter of woa"):
        run_study(small_spec(("population", "popluation")), tmp_path / "out")
    with pytest.raises(ValueError, match=r"workers: expected at least 1, got 0\."):
        run_study(small_spec(), tmp_path / "out", workers=0)
    assert not (tmp_path / "out").exists()


def _process(spec: Path, folder: Path, *, workers: int) -> subprocess.Popen[bytes]:
    """Start the command in a process of its own."""
    command = [sys.executable, "-m", "studies.cli.main", "study", "run", str(spec), "--out", str(folder)]
    return subprocess.Popen(
        [*command, "--workers", str(workers)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


class _Machine:
    """A slot that asks a function what becomes of a run."""

    def __init__(self, fate: Callable[[RunOrder], RunAnswer]) -> None:
        self._fate = fate

    def run(self, order: RunOrder, limit: RunLimit) -> ExecutedRun:
        """Make a run."""
        assert Path(order.instance_path).is_file()
        assert limit == RunLimit(seconds=260.0 if order.kind == "exact" else None, memory_gib=None)
        return ExecutedRun(answer=self._fate(order), environment='{"machine": 1}')


class _Machines:
    """An executor whose only slot is a new one each time that one was lost, and is away for a while before."""

    def __init__(self, fate: Callable[[RunOrder], RunAnswer]) -> None:
        self.num_threads = 1
        self.calls: Counter[str] = Counter()
        self.is_closed = False
        self._fate = fate
        self._asked = 0
        self._slot = _Machine(self._tried)

    def _tried(self, order: RunOrder) -> RunAnswer:
        """Count what is tried; a machine that is lost is replaced."""
        self.calls[f"{order.sha256}, {order.method}"] += 1
        try:
            return self._fate(order)
        except SlotLostError:
            self._slot = _Machine(self._tried)
            raise

    def slots(self, threads: int) -> Sequence[_Machine]:
        """Return the slot, every other time."""
        self._asked += 1
        return [self._slot] if self._asked % 2 else []

    def stop(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Remember it."""
        self.is_closed = True


@pytest.mark.parametrize(("blames_run", "losses"), [(True, 2), (True, 3), (False, 5)])
def test_a_run_whose_machine_is_lost_is_made_again(tmp_path: Path, blames_run: bool, losses: int) -> None:
    """Tests that lost runs are made again, and recorded as failed once three machines may have died of one."""
    left = Counter({"heft": losses})

    def fate(order: RunOrder) -> RunAnswer:
        if left[order.method] > 0:
            left[order.method] -= 1
            raise SlotLostError("machine 7 was lost", blames_run=blames_run)
        return RunAnswer(objective=10_000, seconds=0.0)

    machines = _Machines(fate)
    state = run_study(small_spec(("[6, 8]", "6")), tmp_path, executor=machines)
    is_failed = blames_run and losses == 3
    assert (state.planned, state.finished, state.failed) == (12, 12 - is_failed, int(is_failed))
    assert (state.pending, state.running, machines.is_closed) == (0, 0, True)
    with StudyStore(tmp_path) as store:
        (row,) = store.select("SELECT * FROM runs WHERE method = 'heft'")
        assert machines.calls[f"{row['sha256']}, heft"] == losses + (not is_failed)
    expected = "WorkerLost: machine 7 was lost; the run was lost 3 times." if is_failed else None
    assert row["error"] == expected


def test_a_run_that_interrupts_itself_is_given_up(tmp_path: Path) -> None:
    """Tests that a run whose method stops itself, such as by a signal, is recorded and not made for ever."""
    interrupted = RunAnswer(is_interrupted=True)
    machines = _Machines(lambda order: interrupted if order.method == "heft" else RunAnswer(objective=10_000))
    state = run_study(small_spec(("[6, 8]", "6")), tmp_path, executor=machines)
    assert (state.planned, state.finished, state.failed) == (12, 11, 1)
    with StudyStore(tmp_path) as store:
        (row,) = store.select("SELECT * FROM runs WHERE state = 'failed'")
    assert row["error"] == "WorkerLost: the run was interrupted; the run was lost 3 times."


def test_an_executor_that_is_gone_ends_the_study(tmp_path: Path) -> None:
    """Tests that the error of an executor is raised, and that nothing stays claimed."""

    def fate(order: RunOrder) -> RunAnswer:
        if order.kind != "bound":
            raise ExecutorError("expected a cluster, got none.")
        return RunAnswer(bound=1, bound_method="area", bound_proof="none", seconds=0.0)

    with pytest.raises(ExecutorError, match=r"expected a cluster, got none\."):
        run_study(small_spec(("[6, 8]", "6")), tmp_path, executor=_Machines(fate))
    with StudyStore(tmp_path) as store:
        assert store.counts() == {"pending": 10, "running": 0, "finished": 2, "failed": 0}
    with pytest.raises(ValueError, match=r"workers: expected none beside an executor, got 2\."):
        run_study(small_spec(), tmp_path, executor=_Machines(fate), workers=2)


def test_the_state_is_told_while_runs_are_made(tmp_path: Path) -> None:
    """Tests that a long run does not keep the state from being told."""
    told = threading.Event()

    def fate(order: RunOrder) -> RunAnswer:
        assert told.wait(30)
        return RunAnswer(objective=10_000, seconds=0.0)

    begin = time.monotonic()
    run_study(
        small_spec(("[6, 8]", "6")),
        tmp_path,
        executor=_Machines(fate),
        on_state=lambda state: told.set() if state.running else None,
    )
    assert told.is_set()
    assert time.monotonic() - begin < 30


def test_a_slow_first_run_of_milliseconds_does_not_blow_up_the_time_left() -> None:
    """Tests the estimate after one short bound, and when all runs but one took ten times their estimates."""
    spec = small_spec()
    plan = study_plan(spec, expand_instances(spec))
    total = plan_seconds(plan, 1)
    time_left = TimeLeft(plan, set(), 1)
    assert time_left.seconds(5.0) is None
    bound, *others = plan.runs
    assert bound.kind == "bound"
    time_left.finish(bound.key)
    first = time_left.seconds(5.0)
    assert first is not None
    assert total < first < total + 5.0
    for run in others[:-1]:
        time_left.finish(run.key)
    done = total - plan_seconds(plan, 1, {run.key for run in plan.runs[:-1]})
    last = time_left.seconds(10.0 * done)
    assert last is not None
    assert 9.0 < last / (total - done) < 10.1
