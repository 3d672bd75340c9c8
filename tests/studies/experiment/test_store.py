"""Tests of stores of an earlier version: they open, tell the same, and resume."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from studies.analysis.frames import to_frame
from studies.experiment.instances import expand_instances
from studies.experiment.plan import StudyPlan, study_plan
from studies.experiment.run_answer import RunAnswer
from studies.experiment.run_study import SILENT_SECONDS, Presence, RunOrders, run_study
from studies.experiment.store import DATABASE, SCHEMA_VERSION, StudyStore, store_version
from tests.studies.experiment.run_here import run_here
from tests.studies.experiment.study_specs import small_spec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


CONSTRUCTIONS = (('[[methods]]\nmethod = "random-search"\n', ""), ("time_limit = 20", "time_limit = 20\nthreads = 1"))

VERSION_1 = """
ALTER TABLE runs DROP COLUMN figures;
ALTER TABLE instances DROP COLUMN load;
ALTER TABLE instances DROP COLUMN jobs;
ALTER TABLE instances DROP COLUMN tick_seconds;
ALTER TABLE study DROP COLUMN problem;
UPDATE study SET schema_version = 1;
"""
"""From the tables of today to those of version 1."""


def _put_back(folder: Path) -> None:
    """Put a store back to version 1."""
    database = sqlite3.connect(folder / DATABASE)
    database.executescript(VERSION_1)
    assert store_version(database) == 1
    database.close()


def _columns(folder: Path) -> dict[str, set[str]]:
    """Return the columns of every table of a store."""
    database = sqlite3.connect(folder / DATABASE)
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {table: {row[1] for row in database.execute(f"PRAGMA table_info({table})")} for table in tables}
    database.close()
    return found


def test_an_old_store_tells_the_same_and_resumes(tmp_path: Path) -> None:
    """Tests that reading migrates in place without touching an answer, and that a resumed study repeats nothing."""
    folder, columns = tmp_path, "key, objective, bound, schedule, seconds, ended_at"
    run_here(small_spec(*CONSTRUCTIONS), folder)
    with StudyStore(folder) as store:
        before = to_frame(store)
        answers = [tuple(row) for row in store.select(f"SELECT {columns} FROM runs")]
    _put_back(folder)
    with StudyStore(folder) as store:
        frame = to_frame(store)
        assert tuple(store.select("SELECT schema_version, problem FROM study")[0]) == (SCHEMA_VERSION, "dag")
    lost = ["jobs", "tick_seconds"]  # what version 1 did not keep
    assert frame[lost].isna().all(axis=None)
    pd.testing.assert_frame_equal(frame.drop(columns=lost), before.drop(columns=lost))
    state = run_study(small_spec(*CONSTRUCTIONS), folder, workers=1)
    assert (state.pending, state.failed) == (0, 0)
    with StudyStore(folder) as store:
        assert [tuple(row) for row in store.select(f"SELECT {columns} FROM runs")] == answers
        pd.testing.assert_frame_equal(to_frame(store), before)  # the plan was written again


@pytest.mark.parametrize("has_plan", [True, False])
def test_a_migrated_store_has_the_tables_of_a_new_one(tmp_path: Path, has_plan: bool) -> None:
    """Tests that columns and references are those of today, once, whoever opens it next, also before any plan."""
    spec = small_spec()
    with StudyStore(tmp_path, create=True) as store:
        if has_plan:
            store.write_plan(study_plan(spec, expand_instances(spec)))
    new = _columns(tmp_path)
    _put_back(tmp_path)
    assert _columns(tmp_path) != new
    for _ in range(2):
        with StudyStore(tmp_path) as store:
            (runs,) = store.select("SELECT sql FROM sqlite_master WHERE name = 'runs'")
            assert "REFERENCES instances (sha256)" in runs["sql"]
            assert store.counts()["pending"] == (24 if has_plan else 0)
        assert _columns(tmp_path) == new


@pytest.fixture(scope="module")
def plan() -> StudyPlan:
    """24 runs on two instances."""
    spec = small_spec()
    return study_plan(spec, expand_instances(spec))


@pytest.fixture
def store(tmp_path: Path, plan: StudyPlan) -> StudyStore:
    """Put the plan into a store."""
    store = StudyStore(tmp_path, create=True)
    store.write_plan(plan)
    return store


def test_every_run_is_claimed_once(store: StudyStore, tmp_path: Path) -> None:
    """Tests that two connections share out the runs of a phase in order, none twice."""
    with StudyStore(tmp_path) as other:
        keys = []
        while True:
            claims = [store.claim("a", "method", 1), other.claim("b", "method", 1)]
            keys += [claim["key"] for claim in claims if claim is not None]
            if None in claims:
                break
        positions = [row["position"] for key in keys for row in store.select("SELECT * FROM runs WHERE key = ?", key)]
        assert positions == list(range(6, 24))
        assert other.counts() == {"pending": 6, "running": 18, "finished": 0, "failed": 0}


def test_answers_are_kept(store: StudyStore, plan: StudyPlan) -> None:
    """Tests that an answer is stored with its environment, and stays when the plan is written again."""
    row = store.claim("a", "method", 1)
    assert row is not None
    assert store.finish(row["key"], "a", RunAnswer(objective=7, seconds=0.5, schedule="{}"), '{"x": 1}')
    failed = store.claim("a", "method", 1)
    assert failed is not None
    assert store.finish(failed["key"], "a", RunAnswer(error="RuntimeError: no"), '{"x": 1}')
    store.write_plan(plan)
    assert store.counts() == {"pending": 22, "running": 0, "finished": 1, "failed": 1}
    assert store.done_keys() == {row["key"], failed["key"]}
    (kept,) = store.select("SELECT * FROM runs JOIN environments ON id = environment WHERE key = ?", row["key"])
    assert (kept["objective"], kept["seconds"], kept["content"], kept["owner"]) == (7, 0.5, '{"x": 1}', None)
    assert len(store.select("SELECT * FROM environments")) == 1
    store.forget_failures()
    assert store.counts()["pending"] == 23


def test_runs_that_are_no_longer_planned_are_set_aside(store: StudyStore, plan: StudyPlan) -> None:
    """Tests that a changed parameter is a new run, that old answers stay, and that they return with the old plan."""
    while (row := store.claim("a", "method", 1)) is not None:
        store.finish(row["key"], "a", RunAnswer(objective=9), None)
    spec = small_spec(("population = 5", "population = 6"))
    store.write_plan(study_plan(spec, expand_instances(spec)))
    assert store.counts() == {"pending": 6 + 8, "running": 0, "finished": 10, "failed": 0}
    store.write_plan(plan)
    assert store.counts() == {"pending": 6, "running": 0, "finished": 18, "failed": 0}


def test_a_new_label_is_no_new_run(store: StudyStore) -> None:
    """Tests that renaming a method renames its runs."""
    spec = small_spec(('label = "woa, no HEFT seed"', 'label = "whales"'))
    store.write_plan(study_plan(spec, expand_instances(spec)))
    labels = {row["label"] for row in store.select("SELECT DISTINCT label FROM runs WHERE is_planned = 1")}
    assert "whales" in labels
    assert "woa, no HEFT seed" not in labels
    assert sum(store.counts().values()) == 24


def test_only_the_owner_answers(store: StudyStore) -> None:
    """Tests that an answer to a run that was given to somebody else is dropped."""
    row = store.claim("a", "exact", 1)
    assert row is not None
    store.release("a")
    again = store.claim("b", "exact", 1)
    assert again is not None
    assert again["key"] == row["key"]
    assert not store.finish(row["key"], "a", RunAnswer(objective=1), None)
    assert store.finish(row["key"], "b", RunAnswer(objective=2), None)
    assert [row["objective"] for row in store.select("SELECT objective FROM runs WHERE state = 'finished'")] == [2]


def test_runs_of_processes_that_are_gone_are_free(store: StudyStore) -> None:
    """Tests that runs of dead and of silent processes are given back, and those of living ones are not."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    with Presence(store) as presence:
        (me,) = store.select("SELECT * FROM owners")
        assert (me["id"], me["pid"]) == (presence.owner, os.getpid())
        now = time.time()
        store.write_owner("dead", me["host"], dead.pid, now)
        store.write_owner("silent", "elsewhere", 1, now - 2 * SILENT_SECONDS)
        store.write_owner("alive", "elsewhere", 1, now)
        store.write_owner("here", me["host"], os.getppid(), now)
        for owner in ("dead", "silent", "alive", "here", presence.owner):
            assert store.claim(owner, "method", 1) is not None
        presence.free_abandoned()
        running = {row["owner"] for row in store.select("SELECT owner FROM runs WHERE state = 'running'")}
        assert running == {"alive", "here", presence.owner}
    assert {row["id"] for row in store.select("SELECT id FROM owners")} == {"alive", "here"}
    assert store.counts()["running"] == 2


def test_instances_are_files_and_checked(store: StudyStore, plan: StudyPlan) -> None:
    """Tests that instances are found by origin, and that a changed file is refused."""
    item = plan.instances[0]
    found = store.stored_instance(item.origin)
    assert found is not None
    assert found.sha256 == item.instance.sha256
    assert store.stored_instance("nothing") is None
    path = store.instance_path(item.instance.sha256)
    path.write_text(path.read_text().replace('"release": 0', '"release": 1'))
    with pytest.raises(
        ValueError, match=rf"instances/{path.name}, sha256: expected the content {item.instance.sha256[:16]}"
    ):
        store.instance(item.instance.sha256)


def test_a_lost_instance_is_named(store: StudyStore, plan: StudyPlan) -> None:
    """Tests that a file that is gone is told by its name."""
    path = store.instance_path(plan.instances[0].instance.sha256)
    path.unlink()
    with pytest.raises(
        ValueError, match=rf"instances/{path.name}: expected a file that can be read, got: no such file"
    ):
        store.stored_instance(plan.instances[0].origin)


def test_coordinates_are_those_of_the_specification(store: StudyStore, plan: StudyPlan) -> None:
    """Tests that an instance that is described in another way has the coordinates of today."""
    items = [replace(item, family="mine", origin=f"{{}} {item.family}") for item in plan.instances[:1]]
    store.write_plan(replace(plan, instances=(*items, *plan.instances[1:])))
    rows = store.select("SELECT family, origin FROM instances ORDER BY position")
    assert [row["family"] for row in rows] == ["mine", "layered"]
    assert rows[0]["origin"] == "{} layered"


def test_orders_know_what_another_process_planned(store: StudyStore, plan: StudyPlan) -> None:
    """Tests that runs on instances that were added to the specification meanwhile can be claimed and made."""
    orders = RunOrders(store, "makespan")
    spec = small_spec(("[6, 8]", "[7, 6, 8]"))
    with StudyStore(store.folder) as other:
        other.write_plan(study_plan(spec, expand_instances(spec)))
    row = store.claim("a", "method", 1)
    assert row is not None
    assert row["sha256"] not in {item.instance.sha256 for item in plan.instances}
    assert orders.title(row).startswith("heft on layered-7-")
    assert orders.order(row).instance_path.endswith(".json")


def test_a_folder_that_cannot_be_written_is_read(
    store: StudyStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that a study in an archive opens, without files beside its database, and cannot be changed."""
    store.close()
    before = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with StudyStore(tmp_path) as archive:
        assert archive.counts()["pending"] == 24
        assert sorted(path.name for path in tmp_path.iterdir()) == before == ["instances", DATABASE]
        with pytest.raises(sqlite3.OperationalError, match="attempt to write a readonly database"):
            archive.forget_failures()


def test_other_folders_are_refused(tmp_path: Path) -> None:
    """Tests that a missing store, another file and another version are told apart."""
    with pytest.raises(FileNotFoundError):
        StudyStore(tmp_path)
    (tmp_path / DATABASE).write_text("no database, but long enough to be taken for one by its first bytes" * 20)
    with pytest.raises(ValueError, match=r"study.sqlite: expected the store of a study, got: file is not a database."):
        StudyStore(tmp_path)
    (tmp_path / DATABASE).unlink()
    for statement in ("SELECT 1", "CREATE TABLE mine (number)"):
        database = sqlite3.connect(tmp_path / DATABASE)
        database.execute(statement)
        database.close()
        with pytest.raises(ValueError, match=r"study.sqlite: expected the store of a study, got a database without"):
            StudyStore(tmp_path)
    with pytest.raises(ValueError, match=r"study.sqlite: expected the store of a study, got a database without one."):
        StudyStore(tmp_path, create=True)  # nothing of ours goes into a database of somebody else
    (tmp_path / DATABASE).unlink()
    StudyStore(tmp_path, create=True).close()
    database = sqlite3.connect(tmp_path / DATABASE)
    database.execute("INSERT INTO study VALUES (1, 99, 'x', 'dag', 'makespan', 0, '')")
    database.commit()
    database.close()
    with pytest.raises(ValueError, match=r"study.sqlite: expected a store of version 2 or below, got 99."):
        StudyStore(tmp_path)


def test_a_locked_store_is_waited_for(store: StudyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a writer and a reader wait by turns, which tell the user, until told not to wait any longer."""
    other = sqlite3.connect(store.folder / DATABASE, isolation_level=None)
    places: list[str] = []

    def turns(place: str) -> Iterator[None]:
        places.append(place)
        yield
        other.execute("ROLLBACK")
        yield

    other.execute("BEGIN IMMEDIATE")
    with monkeypatch.context() as patch:
        patch.setattr("studies.experiment.store.turns", turns)
        assert store.claim("me", "bound", 1) is not None
    assert set(places) == {str(store.folder / DATABASE)}
    other.execute("BEGIN IMMEDIATE")
    store.stop_waiting()
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        store.claim("me", "bound", 1)
    other.close()
