"""Tests of running MILPs with a HiGHS that fails, and of what is not tried at all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import solvers.backends.run_pyomo
from formulations.dag.milp.disjunctive import DisjunctiveModel
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from instances.dag.schedule import DagSchedule
from solvers.backends.highs import HighsAnswer, run_highs
from solvers.backends.run_pyomo import run_milp
from solvers.conformance.check_method import check_instances
from solvers.run.outcome import Status, Termination
from solvers.solve import solve
from tests.runs import run_with

if TYPE_CHECKING:
    from collections.abc import Callable

    from solvers.backends.highs import CompiledMilp


def failing(times: int, calls: list[dict[str, object]]) -> Callable[..., HighsAnswer]:
    """Return a HiGHS that finds an optimum and then fails, so many times."""

    def run(milp: CompiledMilp, **options: object) -> HighsAnswer:
        calls.append({"start": milp.start, **options})
        answer = run_highs(milp, **options)
        if len(calls) > times:
            return answer
        return HighsAnswer(
            solution=answer.solution,
            dual_bound=2.0,
            is_finished=False,
            is_infeasible=False,
            seconds=answer.seconds,
            is_failed=True,
        )

    return run


def test_failed_run_is_repeated_without_presolve(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that after an error of HiGHS another run starts from what it had found and proves it."""
    calls: list[dict[str, object]] = []
    monkeypatch.setattr(solvers.backends.run_pyomo, "run_highs", failing(1, calls))
    outcome = run_milp(DisjunctiveModel, example_e, Objective.MAKESPAN, run_with())
    assert (outcome.termination, outcome.lower_bound) == (Termination.FINISHED, 15)
    assert [call.get("presolve", True) for call in calls] == [True, False]
    assert calls[0]["start"] is None
    assert calls[1]["start"] is not None
    assert calls[0]["seed"] != calls[1]["seed"]


def test_second_failure_keeps_schedule_and_bound(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that two errors leave the schedule, the bound that CP-SAT confirms, and the word failed."""
    calls: list[dict[str, object]] = []
    monkeypatch.setattr(solvers.backends.run_pyomo, "run_highs", failing(2, calls))
    outcome = run_milp(DisjunctiveModel, example_e, Objective.MAKESPAN, run_with())
    assert len(calls) == 2
    assert outcome.schedule is not None
    assert (outcome.termination, outcome.lower_bound) == (Termination.FAILED, 2)
    assert outcome.failure == "HiGHS: expected a solution within its tolerances, got a solve error."
    assert outcome.confirmed_by is not None


def test_highs_whose_own_solution_fails_its_own_check() -> None:
    """Tests five equal tasks without a start, on which HiGHS 1.12 ends with an error for most seeds."""
    (ties,) = (instance for instance in check_instances() if instance.name == "all ties, no edges")
    outcome = run_milp(DisjunctiveModel, ties, Objective.WEIGHTED_COMPLETION, run_with())
    assert (outcome.termination, outcome.lower_bound) == (Termination.FINISHED, 6)


def test_schedule_that_does_not_verify_counts_as_none(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a solution that is wrong beyond repair is dropped; nothing is claimed without a schedule."""
    wrong = DagSchedule(gpu=np.zeros(5, dtype=np.int64), start=np.zeros(5, dtype=np.int64))
    monkeypatch.setattr(DisjunctiveModel, "schedule", lambda self: wrong)
    outcome = run_milp(DisjunctiveModel, example_e, Objective.MAKESPAN, run_with())
    assert outcome.schedule is None
    assert outcome.termination is Termination.FAILED
    start = DagSchedule(gpu=[0, 0, 0, 0, 0], start=[0, 4, 7, 10, 18])
    outcome = run_milp(DisjunctiveModel, example_e, Objective.MAKESPAN, run_with(start=start))
    assert outcome.schedule is start


def test_linear_program_has_a_bound() -> None:
    """Tests that a model without integer columns, which has no MIP bound, is proved by its value."""
    instance = DagInstance.from_lists([], num_gpus=1, release=[4], weight=[3])
    result = solve(instance, "milp-disjunctive", objective="weighted_completion", bounds=[], threads=1)
    assert (result.status, result.objective, result.lower_bound) == (Status.OPTIMAL, 12, 12)


@pytest.mark.parametrize("method", ["milp-disjunctive", "milp-gdp", "nip-linearised", "nip"])
def test_instances_beyond_reach_are_not_tried(method: str) -> None:
    """Tests that the start and its bound come back at once, as failed."""
    if method == "nip":
        pytest.importorskip("pyscipopt", reason="the extra scip is not installed")
    instance = DagInstance.from_lists([[10**6, 10**6]] * 3)
    result = solve(instance, method, bounds=[], threads=1)
    assert (result.termination, result.objective, result.lower_bound) == (Termination.FAILED, 2 * 10**6, 0)


@pytest.mark.parametrize("method", ["milp-gdp", "nip-linearised"])
@pytest.mark.parametrize("worker", [False, True])
def test_optimum_is_confirmed(example_e: DagInstance, method: str, worker: bool) -> None:
    """Tests that an optimum of HiGHS is confirmed by CP-SAT, in this process and from a worker."""
    result = solve(example_e, method, bounds=[], worker=worker, threads=1)
    assert (result.status, result.objective, result.lower_bound) == (Status.OPTIMAL, 15, 15)
    assert result.bound is not None
    assert result.bound.confirmed_by is not None


@pytest.mark.parametrize("transformation", ["bigm", "mbigm", "hull"])
def test_transformations_are_a_parameter(example_e: DagInstance, transformation: str) -> None:
    """Tests that every transformation is reached by name, and another one is misuse."""
    result = solve(example_e, "milp-gdp", bounds=[], transformation=transformation, threads=1)
    assert (result.status, result.objective) == (Status.OPTIMAL, 15)
    with pytest.raises(ValueError, match="transformation: expected one of"):
        solve(example_e, "milp-gdp", bounds=[], transformation=f"{transformation}x", threads=1)


def test_empty_windows_are_infeasible(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that nothing is built where nothing fits between a proven bound and the horizon."""
    monkeypatch.setattr(solvers.backends.run_pyomo, "run_highs", None)
    run = replace(run_with(), lower_bound=10**6)
    outcome = run_milp(DisjunctiveModel, example_e, Objective.MAKESPAN, run)
    assert (outcome.is_infeasible, outcome.schedule, outcome.lower_bound) == (True, None, None)
