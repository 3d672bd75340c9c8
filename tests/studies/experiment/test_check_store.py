"""Tests that what is wrong in a store is told in one line that names file and place."""

from __future__ import annotations

import json
import shutil
import sqlite3
from typing import TYPE_CHECKING

import pytest

from studies.experiment.check_store import store_problem
from studies.experiment.store import DATABASE, StudyStore

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run

pytestmark = pytest.mark.whole


@pytest.fixture
def copied(finished_small: Path, tmp_path: Path) -> Path:
    """Return a copy of a finished study."""
    return shutil.copytree(finished_small, tmp_path / "s")


def test_nothing_is_wrong_with_a_finished_study(copied: Path, tmp_path: Path) -> None:
    """Tests that a store as it was written has no problem, and neither has a folder without one."""
    assert store_problem(copied) is None
    assert store_problem(tmp_path) is None


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE runs SET seconds = 'soon' WHERE rowid = 5", "runs.seconds: expected real values, got text."),
        ("UPDATE instances SET family = x'00'", "instances.family: expected text values, got blob."),
        ("ALTER TABLE runs RENAME trace TO t", ": expected a column runs.trace, got none."),
        ("DROP TABLE environments", ": expected a column environments.id, got none."),
        ("DELETE FROM instances WHERE rowid = 1", "runs: expected rows that name one of instances, got another name."),
        ("DELETE FROM study", "study: expected one row, got 0."),
        ("UPDATE study SET objective = 'beauty'", "study: expected a known problem and objective, got dag, beauty."),
        ("UPDATE runs SET phase = 'x' WHERE rowid = 1", "runs.phase: expected one of bound, exact, method, got 'x'."),
        ("UPDATE instances SET origin = '{'", "instances.origin: expected a JSON object, got '{'."),
        ("UPDATE runs SET trace = '[3]' WHERE label = 'heft'", "trace: expected points of 4 numbers, got something"),
        (
            "UPDATE runs SET schedule = '{}' WHERE label = 'heft'",
            "schedule: expected one of the instance, got an error",
        ),
        ("UPDATE runs SET schedule = json_set(schedule, '$.start[0]', 10000)", "expected no violation, got "),
    ],
)
def test_altered_databases(copied: Path, run: Run, statement: str, problem: str) -> None:
    """Tests that each kind of change is found, and that a table of the study ends with status 0, or 2 and one line."""
    database = sqlite3.connect(copied / DATABASE, isolation_level=None)
    database.execute(statement)
    database.close()
    told = store_problem(copied)
    assert told is not None
    assert told.startswith(DATABASE)
    assert problem in told
    ended = run("study", "table", "s", "--what", "gaps,bounds,targets")
    assert ended.status in (0, 2), ended
    assert ended.status == 0 or (ended.err.startswith("s: ") and len(ended.err.splitlines()) == 1), ended


@pytest.mark.parametrize(("size", "problem"), [(0, "expected the store of a study"), (20_000, "malformed")])
def test_databases_that_were_cut_short(copied: Path, run: Run, size: int, problem: str) -> None:
    """Tests that a truncated database ends every command with status 2 and one line."""
    (copied / DATABASE).write_bytes((copied / DATABASE).read_bytes()[:size])
    (tmp := copied.parent / "small.toml").write_text("[study]\nname = 'x'\n")
    for command in (("table", "s"), ("report", "s", "-o", "r.html"), ("run", tmp.name, "--out", "s", "--dry-run")):
        ended = run("study", *command)
        assert (ended.status, len(ended.err.splitlines())) == (2, 1), ended
    assert problem in run("study", "table", "s").err


def test_instances_that_are_gone_or_altered(copied: Path) -> None:
    """Tests that the file of an instance is named."""
    with StudyStore(copied) as store:
        (first, *_) = [store.instance_path(row["sha256"]) for row in store.select("SELECT sha256 FROM instances")]
    document = json.loads(first.read_text())
    document["tasks"][0]["durations"][0] += 1
    first.write_text(json.dumps(document))
    assert (store_problem(copied) or "").startswith(f"instances/{first.name}, ")
    first.unlink()
    assert (store_problem(copied) or "").startswith(f"instances/{first.name}: expected a file that can be read")
