"""Tests of models as files: another reader of the file finds the same optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import optgap
from instances.dag.instance import DagInstance
from instances.dag.schedule import DagSchedule
from tests.contended_instances import contended_instance
from tests.tiny_instances import tiny_instance

if TYPE_CHECKING:
    from pathlib import Path


def optimum_of_milp(path: Path) -> float:
    """Solve a file with HiGHS."""
    import highspy

    solver = highspy.Highs()
    solver.silent()
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(solver.getInfo().objective_function_value)


def optimum_of_cp_sat(path: Path) -> tuple[float, int]:
    """Solve a file with CP-SAT; return its optimum and the number of hinted variables."""
    from google.protobuf import text_format
    from ortools.sat import cp_model_pb2
    from ortools.sat.python import cp_model

    if path.suffix == ".pb":
        stored = cp_model_pb2.CpModelProto.FromString(path.read_bytes())
    else:
        stored = text_format.Parse(path.read_text(), cp_model_pb2.CpModelProto())
    model = cp_model.CpModel()
    text = path.with_name("again.pbtxt")
    text.write_text(text_format.MessageToString(stored))
    model.proto.parse_text_format(text.read_text())
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    return solver.objective_value, len(stored.solution_hint.vars)


@pytest.mark.parametrize("to", ["lp", "mps"])
@pytest.mark.parametrize("objective", ["makespan", "weighted_completion"])
def test_milp_has_the_optimum(tmp_path: Path, to: str, objective: str) -> None:
    """Tests that HiGHS finds the optimum in the file, with and without a schedule that narrows the model."""
    instance = tiny_instance(3)
    result = optgap.solve(instance, objective=objective)
    for schedule in (None, result.schedule):
        optgap.export(instance, schedule, to, tmp_path / f"model.{to}", objective=objective)
        assert optimum_of_milp(tmp_path / f"model.{to}") == pytest.approx(result.objective)


@pytest.mark.parametrize("suffix", [".pbtxt", ".pb"])
def test_cp_sat_model_has_the_optimum(tmp_path: Path, example_e: DagInstance, suffix: str) -> None:
    """Tests that CP-SAT finds the optimum in the file, and that a schedule is its hint."""
    path = tmp_path / f"model{suffix}"
    optgap.export(example_e, None, "cp-sat", path)
    assert optimum_of_cp_sat(path) == (15, 0)
    optgap.export(example_e, optgap.solve(example_e, "heft").schedule, "cp-sat", path)
    optimum, hinted = optimum_of_cp_sat(path)
    assert (optimum, hinted > 10) == (15, True)


def test_cp_sat_model_with_contention(tmp_path: Path) -> None:
    """Tests that the model of contention has the optimum of contention."""
    instance = contended_instance(2)
    result = optgap.solve(instance, contention="nic")
    optgap.export(instance, result.schedule, "cp-sat", tmp_path / "model.pbtxt", contention="nic")
    assert optimum_of_cp_sat(tmp_path / "model.pbtxt")[0] == result.objective


def test_models_that_cannot_be(tmp_path: Path) -> None:
    """Tests that an instance without a schedule, and one that is too large for a MILP, are refused in one line."""
    stuck = DagInstance.from_lists([[1, 1], [1, 1]], task_memory=[2, 2], gpu_memory=[3, 3])
    large = DagInstance.from_lists([[10**6, 10**6]] * 3)
    schedule = DagSchedule(gpu=[0, 0], start=[0, 1])
    with pytest.raises(ValueError, match="schedule: expected one that verifies, got one with violations such as: gpus"):
        optgap.export(stuck, schedule, "lp", tmp_path / "model.lp")
    with pytest.raises(ValueError, match="horizon: expected at most 500000 ticks, got 3000000"):
        optgap.export(large, None, "lp", tmp_path / "model.lp")
    assert list(tmp_path.iterdir()) == []
