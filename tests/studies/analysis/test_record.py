"""Tests of what a store says of its study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from studies.analysis.record import study_record
from studies.experiment.run_answer import RunAnswer
from tests.studies.experiment.study_specs import SMALL, small_spec
from tests.studies.report.filled_study import filled_store, usual_answer

if TYPE_CHECKING:
    from pathlib import Path


def test_instances_know_their_best_bound_and_schedule(tmp_path: Path) -> None:
    """Tests that the first in the plan to prove or to find is named, that failures are kept, and runs are counted."""

    def answer(row: dict[str, Any]) -> RunAnswer | None:
        if row["label"] == "heft":
            return RunAnswer(objective=100, seconds=0.1)
        if row["label"] == "random-search":
            return RunAnswer(error="OSError: no")
        return usual_answer(row) if row["label"] != "woa, no HEFT seed" else None

    with filled_store(tmp_path, small_spec(("[6, 8]", "6")), answer) as store:
        record = study_record(store)
    assert (record.name, record.objective, record.seed) == ("small", "makespan", 3)
    assert record.specification.strip().splitlines()[0] == SMALL.strip().splitlines()[0]
    (instance,) = record.instances.to_dict("records")
    assert (instance["family"], instance["tasks"], instance["gpus"]) == ("layered", 6, 2)
    assert (instance["bound"], instance["bound_method"], instance["bound_proof"]) == (100, "cp-sat", "complete search")
    assert (instance["objective"], instance["objective_label"], instance["gap"]) == (100, "cp-sat", 0)
    assert (instance["is_optimum"], instance["is_infeasible"]) == (True, False)
    assert len(record.unproved) == len(record.without_schedule) == 0
    assert record.failures["label"].tolist() == ["random-search"] * 4
    counts = record.counts().set_index(["label", "budget"])
    assert counts.loc[("random-search", "40 evaluations"), ["finished", "failed", "pending"]].tolist() == [0, 2, 0]
    assert counts.loc[("woa, no HEFT seed", "80 evaluations"), ["finished", "failed", "pending"]].tolist() == [0, 0, 2]
    assert record.environments[["environment", "revision", "num_runs"]].to_numpy().tolist() == [[1, "abc123", 8]]
    assert set(record.versions["software"]) == {"python", "numpy"}


def test_runs_that_are_set_aside_still_prove(tmp_path: Path) -> None:
    """Tests that a bound of an earlier specification counts although its run is listed no more."""
    with filled_store(tmp_path, small_spec(("[6, 8]", "6"))):
        pass
    without = small_spec(("[6, 8]", "6"), ('\n[[reference.exact]]\nmethod = "cp-sat"\ntime_limit = 20\n', ""))
    with filled_store(tmp_path, without) as store:
        record = study_record(store)
    assert record.num_set_aside == 1
    assert "cp-sat" not in set(record.runs["label"])
    (instance,) = record.instances.to_dict("records")
    assert (instance["bound"], instance["bound_method"], instance["is_optimum"]) == (100, "cp-sat", True)
