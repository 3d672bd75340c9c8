"""Tests that the deterministic columns of a store come back from one file, and from no other file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from instances.text_file import read_text, write_text
from studies.analysis.frames import to_frame, traces
from studies.experiment.kept_runs import (
    kept_rows,
    kept_sha256,
    kept_text,
    restore_store,
    write_kept_rows,
    write_kept_runs,
)
from studies.experiment.store import StudyStore
from studies.papers.published import kept_studies
from tests.studies.experiment.run_here import run_here
from tests.studies.experiment.study_specs import small_spec

if TYPE_CHECKING:
    from pathlib import Path

FILE = "small.json.gz"
NO_SECONDS = ["seconds"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small study, with its kept runs beside it."""
    folder = tmp_path_factory.mktemp("kept")
    run_here(small_spec(), folder / "study")
    write_kept_runs(folder / "study", folder / FILE)
    return folder


def test_the_same_comes_back(folder: Path, tmp_path: Path) -> None:
    """Tests that frame and traces are the same but for seconds, and that the store that comes back keeps the same."""
    restore_store(folder / FILE, tmp_path / "again", kept_sha256(read_text(folder / FILE)))
    with StudyStore(folder / "study") as store:
        frame, points = to_frame(store), traces(store)
    with StudyStore(tmp_path / "again") as store:
        again, points_again = to_frame(store), traces(store)
    assert len(frame) > 3
    assert again["seconds"].isna().all()
    pd.testing.assert_frame_equal(again.drop(columns=NO_SECONDS), frame.drop(columns=NO_SECONDS))
    pd.testing.assert_frame_equal(points_again.drop(columns=NO_SECONDS), points.drop(columns=NO_SECONDS))
    assert kept_text(tmp_path / "again") == read_text(folder / FILE)


def test_a_study_made_twice_keeps_the_same(folder: Path, tmp_path: Path) -> None:
    """Tests that another run of the same specification has the same content hash, seconds and times apart."""
    run_here(small_spec(), tmp_path)
    assert kept_sha256(kept_text(tmp_path)) == kept_sha256(read_text(folder / FILE))


def test_measured_runs_are_kept_apart(tmp_path: Path) -> None:
    """Tests that runs with a budget in seconds are kept if asked for, without the others, and come back as before."""
    kept = kept_studies()["whales_seconds"]
    restore_store(kept.path, tmp_path, kept.sha256)
    assert kept.measured
    assert kept_text(tmp_path, measured=True) == read_text(kept.path)
    budgets = [json.loads(text)["runs"]["budget"] for text in (read_text(kept.path), kept_text(tmp_path))]
    assert [set(each) for each in budgets] == [{"-", "1 s"}, {"-"}]


def test_rows_come_back(tmp_path: Path) -> None:
    """Tests that rows of CSV, of JSON lines and of a document are kept alike, without seconds, to the last digit."""
    rows = [{"a": 0.1 + 0.2, "b": "x", "c": None, "own_seconds": 1.5}, {"a": 2.0, "b": "y", "c": 3.0, "own_seconds": 2}]
    pd.DataFrame(rows).to_csv(tmp_path / "r.csv", index=False)
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "r.json").write_text(json.dumps({"rows": rows}, indent=1))
    found = {write_kept_rows(tmp_path / f"r.{end}", tmp_path / f"{end}.json.gz") for end in ("csv", "jsonl", "json")}
    assert len(found) == 1
    frame = kept_rows(tmp_path / "csv.json.gz", found.pop())
    pd.testing.assert_frame_equal(frame, pd.DataFrame(rows).drop(columns="own_seconds"))
    write_kept_rows(tmp_path / "r.jsonl", tmp_path / "all.json.gz", measured=True)
    pd.testing.assert_frame_equal(kept_rows(tmp_path / "all.json.gz"), pd.DataFrame(rows))
    with pytest.raises(ValueError, match=r"csv\.json\.gz: expected the content 0"):
        kept_rows(tmp_path / "csv.json.gz", "0" * 64)
    (tmp_path / "r.json").write_text("{\n}")
    with pytest.raises(ValueError, match=r"r\.json: expected rows as JSON objects, got something else"):
        write_kept_rows(tmp_path / "r.json", tmp_path / "x.json.gz")


def test_other_files_are_refused(folder: Path, tmp_path: Path) -> None:
    """Tests the messages for a changed file, another document, a folder with runs and a study that is not finished."""
    with pytest.raises(ValueError, match=r"small\.json\.gz: expected the content 0{16}\.\.\., got "):
        restore_store(folder / FILE, tmp_path / "a", "0" * 64)
    write_text(tmp_path / "x.json", json.dumps({"format": "other"}))
    with pytest.raises(ValueError, match="format: expected one of optgap-kept-runs/1, got 'other'"):
        restore_store(tmp_path / "x.json", tmp_path / "b")
    write_text(tmp_path / "y.json", "[1]")
    with pytest.raises(ValueError, match=r"y\.json: expected a document of the format optgap-kept-runs/1"):
        restore_store(tmp_path / "y.json", tmp_path / "c")
    with pytest.raises(ValueError, match="expected a folder without a study, got one with runs"):
        restore_store(folder / FILE, folder / "study")
    restore_store(folder / FILE, tmp_path / "d")
    with StudyStore(tmp_path / "d", create=True) as store:
        store.select("UPDATE runs SET state = 'pending' WHERE position = 0")
    with pytest.raises(ValueError, match="runs: expected a study whose runs are all finished, got 1 others"):
        kept_text(tmp_path / "d")
