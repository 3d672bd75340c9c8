"""Tests of a study of jobs from its specification to its frame: store, resume, reference, alarm, migration."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from instances.jobs.instance import JobsInstance
from instances.jobs.objective import jobs_objective_value
from instances.jobs.verify import verify_jobs_schedule
from solvers.confirmation.reproducer import read_reproducer
from solvers.run.contradiction import ContradictionError
from studies.analysis.frames import COLUMNS, figure_columns, to_frame
from studies.analysis.grouped_comparison import grouped_comparison
from studies.analysis.online_summary import online_summary
from studies.experiment import run_measures as guarded
from studies.experiment.execute_run import RunOrder, execute_run
from studies.experiment.read_specification import shipped_specs
from studies.experiment.run_study import run_study
from studies.experiment.specification import SearchBudget
from studies.experiment.store import DATABASE, StudyStore
from studies.experiment.stored_documents import read_stored_instance, stored_schedule
from tests.studies.experiment.run_here import run_here
from tests.studies.experiment.study_answers import copy_study
from tests.studies.experiment.study_specs import MY_POLICIES, jobs_spec, small_spec

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run

pytestmark = pytest.mark.whole

DETERMINISTIC = "sha256, label, budget, repetition, seed, objective, bound, schedule, figures, state"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the small study of jobs without any disturbance, here; workers must say the same."""
    folder = tmp_path_factory.mktemp("finished")
    run_here(jobs_spec(), folder)
    return folder


@pytest.fixture
def my_policies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the module `my_policies` importable."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "my_policies.py").write_text(MY_POLICIES)
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))
    monkeypatch.chdir(tmp_path)


def _answers(folder: Path) -> list[tuple[object, ...]]:
    """Return every deterministic column of the planned runs."""
    with StudyStore(folder) as store:
        rows = store.select(f"SELECT {DETERMINISTIC} FROM runs WHERE is_planned = 1 ORDER BY position")
    return [tuple(row) for row in rows]


def test_everything_is_stored(finished: Path) -> None:
    """Tests that every run is there, that schedules verify with their objective, and that instances are files."""
    with StudyStore(finished) as store:
        assert store.counts() == {"pending": 0, "running": 0, "finished": 28, "failed": 0}
        (study,) = store.select("SELECT problem, objective FROM study")
        assert tuple(study) == ("jobs", "total_completion")
        for row in store.select("SELECT * FROM runs WHERE phase != 'bound'"):
            instance = store.instance(row["sha256"])
            assert isinstance(instance, JobsInstance)
            schedule = stored_schedule(instance, row["schedule"])
            assert verify_jobs_schedule(instance, schedule) == []  # type: ignore[arg-type]
            assert jobs_objective_value(instance, schedule, "total_completion") == row["objective"]  # type: ignore[arg-type]
            figures = json.loads(row["figures"])
            releases = int(instance.release.sum())
            assert figures["jct_mean"] == pytest.approx((row["objective"] - releases) / instance.num_jobs)
            assert row["seconds"] > 0
        assert {row["evaluations"] for row in store.select("SELECT * FROM runs WHERE kind = 'policy'")} == {1}
        for row in store.select("SELECT * FROM instances"):
            assert (row["tasks"], row["edges"], row["jobs"], row["gpus"]) == (None, None, 5, 4)
            assert row["tick_seconds"] > 0
            assert read_stored_instance(finished / "instances" / row["file"]).sha256 == row["sha256"]


def test_frame_holds_gaps_and_jct(finished: Path) -> None:
    """Tests that gaps are to the optimum that CP-SAT proves, and that JCT and guarantees have columns."""
    with StudyStore(finished) as store:
        frame, with_references = to_frame(store), to_frame(store, references=True)
    assert tuple(frame.columns) == (*COLUMNS, *figure_columns())
    assert len(frame) == 4 * (1 + 1 + 2)
    assert len(with_references) == 28
    assert frame["is_optimum"].all()
    assert (frame["gap"] >= 0).all()
    optimum = with_references[with_references["label"] == "cp-sat"].set_index("instance")["objective"]
    assert frame["bound"].tolist() == optimum.loc[frame["instance"]].tolist()
    assert frame.groupby("load")["instance"].nunique().to_dict() == {0.7: 2, 1.1: 2}
    assert frame["jobs"].tolist() == [5] * len(frame)
    assert frame["tasks"].isna().all()
    assert (frame["jct_max"] >= frame["jct_p50"]).all()
    proved = frame.dropna(subset=["upper_bound"])
    assert set(proved["label"]) == {"a-srpt"}
    assert len(proved) == 4
    assert (proved["objective"] <= proved["upper_bound"]).all()
    assert (proved["objective"] <= proved["factor"] * proved["bound"] + 5).all()


def test_groups_and_summaries_work_on_the_frame(finished: Path) -> None:
    """Tests that comparisons by load and by family, and the summary with intervals, read the frame as it is."""
    with StudyStore(finished) as store:
        frame = to_frame(store)
    for column, values in (("load", ["0.7", "1.1"]), ("family", ["jobs-small"]), ("jobs", ["5"])):
        assert list(grouped_comparison(frame, column).groups) == values
    summary = online_summary(frame)
    assert len(summary) == 2 * 3
    mine = frame[(frame["label"] == "spjf, wrong by up to 4") & (frame["load"] == 0.7)]
    (row,) = summary[(summary["label"] == "spjf, wrong by up to 4") & (summary["load"] == 0.7)].to_dict("records")
    assert row["instances"] == 2
    assert row["gap"] == pytest.approx(mine.groupby("instance")["gap"].mean().mean())
    assert row["ratio"] == pytest.approx((mine["objective"] / mine["bound"]).max())


def test_an_interrupted_study_resumes(finished: Path, tmp_path: Path) -> None:
    """Tests that what was finished is not made again, and that a worker process says what this one has said."""
    copy_study(finished, tmp_path / "out")
    with sqlite3.connect(tmp_path / "out" / DATABASE) as database:
        database.execute(
            "UPDATE runs SET state = 'pending', objective = NULL, schedule = NULL, figures = NULL"
            " WHERE position % 3 = 0"
        )
    database.close()
    with StudyStore(tmp_path / "out") as store:
        done = [tuple(row) for row in store.select("SELECT key, ended_at, seconds FROM runs WHERE state = 'finished'")]
    assert len(done) == 28 - 10
    state = run_study(jobs_spec(), tmp_path / "out", workers=1)
    assert (state.planned, state.finished, state.running) == (28, 28, 0)
    assert _answers(tmp_path / "out") == _answers(finished)
    with StudyStore(tmp_path / "out") as store:
        assert set(done) <= {tuple(row) for row in store.select("SELECT key, ended_at, seconds FROM runs")}


@pytest.mark.usefixtures("my_policies")
def test_policies_of_ones_own(tmp_path: Path) -> None:
    """Tests that functions run as policies, warmed up, repeated where they take a generator; failures are rows."""
    names = ("is_cold", "draws", "says_nothing")
    more = "".join(f'\n[[methods]]\nlabel = "{name}"\nmethod = "my_policies:{name}"\n' for name in names)
    spec = jobs_spec(("load = [0.7, 1.1]\ncount = 2", "load = 0.7"), ('\n[[reference.exact]]\nmethod = "cp-sat"', ""),
                     ("time_limit = 30", ""), more=more)  # fmt: skip
    run_here(spec, tmp_path / "out")
    with StudyStore(tmp_path / "out") as store:
        assert store.counts() == {"pending": 0, "running": 0, "finished": 2 + 4 + 4, "failed": 1}
        frame = to_frame(store)
    assert frame.groupby("label")["repetition"].count().to_dict() == {
        "a-srpt": 1,
        "draws": 2,
        "fifo": 1,
        "is_cold": 2,
        "says_nothing": 1,
        "spjf, wrong by up to 4": 2,
    }
    by_label = frame.set_index("label")
    assert by_label.loc["says_nothing", "error"] == "RuntimeError: no luck"
    assert set(by_label.loc["is_cold", "objective"]) == {by_label.loc["fifo", "objective"]}
    assert by_label["error"].notna().sum() == 1


def test_the_proved_upper_bound_is_an_alarm(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a run of A-SRPT above what is proved about it is a contradiction with a reproducer."""
    monkeypatch.chdir(tmp_path)
    path = next((finished / "instances").glob("*.json"))
    instance = read_stored_instance(path)
    assert isinstance(instance, JobsInstance)
    order = _order(instance, "a-srpt")
    answer = execute_run(order, instance)
    assert answer.error is None
    assert answer.objective is not None
    bound = Fraction(2 * answer.objective - 1, 2)
    true = guarded.measured_guarantee
    monkeypatch.setattr(
        guarded, "measured_guarantee", lambda *given, **named: replace(true(*given, **named), upper_bound=bound)
    )
    answer = execute_run(order, instance)
    assert answer.is_contradiction
    assert answer.error is not None
    assert "as is proved, got a schedule of" in answer.error
    (left,) = tmp_path.glob("optgap-reproducer-*.json")
    reproducer = read_reproducer(left)
    assert reproducer.instance.sha256 == instance.sha256
    assert verify_jobs_schedule(instance, reproducer.schedule) == []  # type: ignore[arg-type]
    for other in ({"mode": "work_conserving"}, {"placement": "stage-order"}):
        assert execute_run(replace(order, parameters=other), instance).error is None


def test_a_bound_above_a_schedule_is_an_alarm(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that stored answers that contradict each other stop every reader, with a reproducer."""
    monkeypatch.chdir(tmp_path)
    copy_study(finished, tmp_path / "out")
    with sqlite3.connect(tmp_path / "out" / DATABASE) as database:
        database.execute("UPDATE runs SET bound = 1000000 WHERE method = 'virtual-srpt'")
    database.close()
    message = r"virtual-srpt claims a bound of 1000000 for 'jobs-small-.*, .* has a verified schedule of"
    with StudyStore(tmp_path / "out") as store, pytest.raises(ContradictionError, match=message):
        to_frame(store)
    (left,) = tmp_path.glob("optgap-reproducer-*.json")
    assert isinstance(read_reproducer(left).instance, JobsInstance)


def test_a_store_keeps_problem_and_objective(finished: Path, tmp_path: Path) -> None:
    """Tests that a plan of another problem or objective is refused: its bounds are none of the store's."""
    copy_study(finished, tmp_path / "out")
    weighted = jobs_spec(("seed = 5", 'seed = 5\nobjective = "weighted_completion"'))
    with pytest.raises(ValueError, match=r"study.objective: expected total_completion, as the store has it, got weigh"):
        run_study(weighted, tmp_path / "out", workers=1)
    with pytest.raises(ValueError, match=r"study.problem: expected jobs, as the store has it, got dag\."):
        run_study(small_spec(), tmp_path / "out", workers=1)
    assert _answers(tmp_path / "out") == _answers(finished)


def test_the_shipped_study_is_planned_by_one_command(run: Run) -> None:
    """Tests what the reduced online study would run."""
    assert "online_quick" in shipped_specs()
    plan = run("study", "run", "online-quick", "--dry-run", "--json").document
    assert (plan["problem"], plan["runs"], {item["load"] for item in plan["instances"]}) == ("jobs", 66, {0.7, 1.1})


@pytest.mark.slow
@pytest.mark.usefixtures("runs_here")
def test_the_shipped_study_runs_by_one_command(run: Run, tmp_path: Path) -> None:
    """Tests the reduced online study from the command line: optimality gaps, no failure, tables of it."""
    ended = run("study", "run", "online-quick", "--out", "out", "--workers", "1", "--json")
    assert (ended.document["finished"], ended.document["failed"]) == (66, 0)
    told = run("study", "online", "--from", "out", "--csv", "runs.csv")
    assert " ".join(told.out.split()).count("against the proven optimum") == 2
    runs = pd.read_csv(tmp_path / "runs.csv")
    assert len(runs) == 6 * 9
    assert runs["is_optimum"].all()
    assert "spjf, lengths wrong by up to 4" in " ".join(run("study", "table", "out").out.split())
    for wrong in (("nowhere",), ("out", "w.json")):
        assert run("study", "online", "--from", *wrong).status == 2


def _order(instance: JobsInstance, method: str) -> RunOrder:
    """Return the order to run a policy."""
    return RunOrder(
        instance_path="",
        sha256=instance.sha256,
        kind="policy",
        method=method,
        parameters={},
        objective="total_completion",
        budget=SearchBudget(),
        seed=0,
        threads=1,
    )
