"""Tests of the frames of answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from studies.analysis.frames import COLUMNS, TRACE_COLUMNS, to_frame, traces
from studies.experiment.instances import expand_instances
from studies.experiment.plan import study_plan
from studies.experiment.run_answer import RunAnswer
from studies.experiment.store import StudyStore
from tests.studies.experiment.study_specs import small_spec

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> StudyStore:
    """Put the plan of the small study into a store; nothing is run."""
    spec = small_spec()
    store = StudyStore(tmp_path, create=True)
    store.write_plan(study_plan(spec, expand_instances(spec)))
    return store


def _answer(store: StudyStore, label: str, sha256: str, answer: RunAnswer, **where: object) -> None:
    """Answer one run of a label on an instance."""
    while True:
        rows = [store.claim("a", phase, 1) for phase in ("bound", "exact", "method")]
        if all(row is None for row in rows):
            break
    conditions = "".join(f" AND {name} = ?" for name in where)
    (row, *_) = store.select(
        f"SELECT key FROM runs WHERE label = ? AND sha256 = ? AND state = 'running'{conditions} ORDER BY position",
        label,
        sha256,
        *where.values(),
    )
    assert store.finish(row["key"], "a", answer, None)


def test_columns_and_values(store: StudyStore) -> None:
    """Tests the frame of answers given by hand: denominators over all runs, gaps, statuses, budgets."""
    first, second = (row["sha256"] for row in store.select("SELECT sha256 FROM instances ORDER BY position"))
    _answer(store, "critical-path", first, RunAnswer(bound=80))
    _answer(store, "area", first, RunAnswer(bound=90))
    _answer(store, "cp-sat", first, RunAnswer(objective=100, bound=100, evaluations=None, seconds=1.0))
    _answer(store, "heft", first, RunAnswer(objective=125, evaluations=1, seconds=0.25))
    _answer(store, "random-search", first, RunAnswer(objective=100, evaluations=40, seconds=0.5), repetition=1)
    _answer(store, "random-search", second, RunAnswer(evaluations=40, seconds=0.5))
    _answer(store, "woa, no HEFT seed", second, RunAnswer(error="RuntimeError: no"))
    _answer(store, "area", second, RunAnswer(bound=50))
    frame = to_frame(store)
    assert tuple(frame.columns) == COLUMNS
    assert frame["label"].tolist() == ["heft", "random-search", "random-search", "woa, no HEFT seed"]
    assert frame["study"].unique().tolist() == ["small"]
    heft, search, none, failed = (row for _, row in frame.iterrows())
    assert (heft["instance"], heft["sha256"]) == ("layered-6-mixed-2-ccr0.5-inconsistent-s0", first)
    assert (heft["family"], heft["tasks"], heft["gpus"]) == ("layered", 6, 2)
    assert (heft["ccr"], heft["heterogeneity"]) == (0.5, "inconsistent")
    assert (heft["kind"], heft["budget"], heft["repetition"]) == ("construction", "-", 0)
    assert (heft["objective"], heft["bound"], heft["is_optimum"], heft["gap"]) == (125, 100, True, 0.25)
    assert (heft["seconds"], heft["evaluations"], heft["status"]) == (0.25, 1, "feasible")
    assert (search["kind"], search["budget"], search["repetition"]) == ("search", "40 evaluations", 1)
    assert (search["gap"], search["status"], search["evaluations"]) == (0.0, "optimal", 40)
    assert (none["bound"], none["is_optimum"], none["status"]) == (50, False, "unknown")
    assert pd.isna(none["objective"])
    assert pd.isna(none["gap"])
    assert (failed["status"], failed["error"]) == ("failed", "RuntimeError: no")
    every = to_frame(store, references=True)
    assert set(every["kind"]) == {"bound", "exact", "construction", "search"}
    assert len(every) == 8
    assert every["error"].notna().sum() == 1


def test_an_empty_study_has_an_empty_frame(store: StudyStore) -> None:
    """Tests that columns are there before there are runs."""
    assert tuple(to_frame(store).columns) == COLUMNS
    assert tuple(traces(store).columns) == TRACE_COLUMNS
    assert len(to_frame(store)) == len(traces(store)) == 0


def test_a_bound_of_zero_has_no_gap(store: StudyStore) -> None:
    """Tests that nothing is divided by 0, and that a proof of infeasibility is told."""
    first, second = (row["sha256"] for row in store.select("SELECT sha256 FROM instances ORDER BY position"))
    _answer(store, "area", first, RunAnswer(bound=0))
    _answer(store, "heft", first, RunAnswer(objective=0))
    _answer(store, "cp-sat", second, RunAnswer(is_infeasible=True))
    _answer(store, "heft", second, RunAnswer())
    frame = to_frame(store, references=True).set_index(["label", "sha256"])
    assert frame.loc[("heft", first), "status"] == "optimal"
    assert pd.isna(frame.loc[("heft", first), "gap"])
    assert frame.loc[("cp-sat", second), "status"] == "infeasible"
    assert frame.loc[("heft", second), "status"] == "unknown"


def test_traces_are_improvements(store: StudyStore) -> None:
    """Tests that a trace becomes a row per improvement, without points that have no schedule."""
    first = store.select("SELECT sha256 FROM instances ORDER BY position")[0]["sha256"]
    points = [[0.1, 0, None, 5], [0.2, 1, 30, 5], [0.3, 4, 30, 6], [0.4, 9, 20, 6]]
    _answer(store, "random-search", first, RunAnswer(objective=20, trace=json.dumps(points)))
    frame = traces(store)
    assert tuple(frame.columns) == TRACE_COLUMNS
    assert frame[["evaluations", "seconds", "objective"]].values.tolist() == [[1, 0.2, 30], [9, 0.4, 20]]
    assert set(frame["budget"]) == {"40 evaluations"}
    assert set(frame["sha256"]) == {first}
