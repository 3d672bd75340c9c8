"""Tests of the CP-SAT model of the jobs problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from ortools.sat.python import cp_model

from formulations.jobs.cp_sat.model import JobsCpSatModel
from formulations.jobs.left_shift import latest_completions, list_schedule
from formulations.jobs.pattern_table import all_gpus, kind_patterns, server_patterns
from instances.jobs.verify import verify_jobs_schedule
from tests.brute_force_jobs import optimum_jobs
from tests.jobs_strategies import jobs_instances, worked_example
from tests.jobs_twins import twin_instances

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance


def _solver() -> cp_model.CpSolver:
    """Return a solver with one thread and without presolve, which raises IndexError on some models (OR-Tools 9.15)."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.cp_model_presolve = False
    return solver


def _solved(model: JobsCpSatModel) -> tuple[int, cp_model.CpSolver]:
    """Solve and return the status."""
    solver = _solver()
    return solver.solve(model.proto_model), solver


@pytest.mark.parametrize("symmetry", [False, True])
@settings(deadline=None, max_examples=15)
@given(instance=twin_instances(max_jobs=3))
def test_hint_is_a_solution_with_and_without_symmetry(symmetry: bool, instance: JobsInstance) -> None:
    """Tests that a hinted list schedule, fixed as it is hinted, satisfies the model."""
    table, weights, release = server_patterns(instance), instance.weight.tolist(), instance.release.tolist()
    made = list_schedule(table, release, weights)
    at_most = made.objective(table, weights)
    latest = latest_completions(table, release, weights, at_most=at_most)
    model = JobsCpSatModel(instance, table, weights, latest, symmetry=symmetry, at_most=at_most)
    model.hint(made)
    solver = _solver()
    solver.parameters.fix_variables_to_their_hinted_value = True
    assert solver.solve(model.proto_model) == cp_model.OPTIMAL
    found = model.schedule(solver.value)
    assert found.objective(table, weights) == at_most
    assert verify_jobs_schedule(instance, found.jobs_schedule(instance, table)) == []


@settings(deadline=None, max_examples=15)
@given(instance=jobs_instances(max_jobs=3, max_servers=2))
def test_refutes_below_the_optimum_only(instance: JobsInstance) -> None:
    """Tests that no schedule below the optimum exists in the model, and one at the optimum does."""
    best, weights = optimum_jobs(instance, "weighted_completion"), instance.weight.tolist()
    table, release = server_patterns(instance), instance.release.tolist()
    for at_most, expected in ((best - 1, cp_model.INFEASIBLE), (best, cp_model.OPTIMAL)):
        latest = latest_completions(table, release, weights, at_most=at_most)
        model = JobsCpSatModel(instance, table, weights, latest, at_most=at_most, symmetry=False)
        assert _solved(model)[0] == expected


@settings(deadline=None, max_examples=15)
@given(instance=jobs_instances(max_jobs=3, max_servers=2))
def test_relaxations_are_below_the_optimum(instance: JobsInstance) -> None:
    """Tests that the optimum by kind, and that of one pool, are at most the optimum, in this order."""
    weights, release = instance.weight.tolist(), instance.release.tolist()
    values = []
    for table in (all_gpus(instance), kind_patterns(instance)):
        at_most = list_schedule(table, release, weights).objective(table, weights)
        latest = latest_completions(table, release, weights, at_most=at_most)
        status, solver = _solved(JobsCpSatModel(instance, table, weights, latest))
        assert status == cp_model.OPTIMAL
        values.append(round(solver.objective_value))
    assert values[0] <= values[1] <= optimum_jobs(instance, "weighted_completion")


def test_lower_bound_is_a_row() -> None:
    """Tests that a proven bound enters the model: with one above the optimum it has no better solution."""
    instance = worked_example()
    table, release = server_patterns(instance), instance.release.tolist()
    latest = latest_completions(table, release, [1, 1, 1], at_most=110)
    _, solver = _solved(JobsCpSatModel(instance, table, [1, 1, 1], latest, lower_bound=101))
    assert round(solver.objective_value) == 101
