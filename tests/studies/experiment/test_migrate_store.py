"""Tests of stores of an earlier version: they open, tell the same, and resume."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from studies.experiment.expand_instances import expand_instances
from studies.experiment.migrate_store import store_version
from studies.experiment.run_study import run_study
from studies.experiment.study_frame import to_frame
from studies.experiment.study_plan import study_plan
from studies.experiment.study_schema import SCHEMA_VERSION
from studies.experiment.study_store import DATABASE, StudyStore
from tests.studies.experiment.run_here import run_here
from tests.studies.experiment.study_specs import small_spec

if TYPE_CHECKING:
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
