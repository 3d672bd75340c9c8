"""Behaviour of CP-SAT that our model and runner are built around; a change here is a reason to look at both."""

from __future__ import annotations

import pytest
from ortools.sat.python import cp_model

from formulations.dag.cp_sat.model import CpSatModel
from formulations.dag.probing.windows import windows
from instances.clusters.cluster import parse_cluster
from instances.dag.objective import Objective
from instances.generators.dag.generate import generate


def solver_with_one_thread() -> cp_model.CpSolver:
    """Return a solver whose answer does not depend on threads."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    return solver


@pytest.mark.parametrize(("start", "status"), [(0, cp_model.OPTIMAL), (5, cp_model.INFEASIBLE), (10, cp_model.OPTIMAL)])
def test_interval_of_size_zero_may_not_stand_inside_another(start: int, status: cp_model.CpSolverStatus) -> None:
    """Tests that non-overlap forbids an interval of size 0 inside another one: so tasks of duration 0 have none."""
    model = cp_model.CpModel()
    long = model.new_fixed_size_interval_var(0, 10, "long")
    empty = model.new_fixed_size_interval_var(start, 0, "empty")
    model.add_no_overlap([long, empty])
    assert solver_with_one_thread().solve(model) == status


def test_unknown_reports_an_objective_that_is_none() -> None:
    """Tests that a search without time ends with UNKNOWN and yet shows an objective, below all that is possible."""
    model = cp_model.CpModel()
    starts = [model.new_int_var(0, 100, f"start[{task}]") for task in range(20)]
    last = model.new_int_var(15, 3000, "last")
    model.add_no_overlap([model.new_fixed_size_interval_var(start, 5, "run") for start in starts])
    for start in starts:
        model.add(last >= start + 15)
    model.minimize(last)
    solver = solver_with_one_thread()
    solver.parameters.max_time_in_seconds = 0.0
    assert solver.solve(model) == cp_model.UNKNOWN
    assert solver.objective_value < 15
    assert solver.best_objective_bound <= 110  # the optimum


def test_two_hints_on_one_variable_are_refused() -> None:
    """Tests that a variable that is hinted twice makes the model invalid: so hints are cleared first."""
    model = cp_model.CpModel()
    x = model.new_int_var(0, 5, "x")
    model.minimize(x)
    model.add_hint(x, 1)
    model.add_hint(x, 2)
    assert solver_with_one_thread().solve(model) == cp_model.MODEL_INVALID
    model.clear_hints()
    model.add_hint(x, 2)
    assert solver_with_one_thread().solve(model) == cp_model.OPTIMAL


def test_wrong_subsolver_name_is_refused() -> None:
    """Tests that an unknown subsolver makes the model invalid: a renamed one would not go unnoticed."""
    model = cp_model.CpModel()
    model.minimize(model.new_int_var(0, 5, "x"))
    solver = solver_with_one_thread()
    solver.parameters.subsolvers.append("no_such_subsolver")
    assert solver.solve(model) == cp_model.MODEL_INVALID


def test_no_overlap_proves_a_wrong_optimum() -> None:
    """Tests that CP-SAT with intervals says 573 where the optimum is 572, so that small models still need orders."""
    instance = generate("mixture-of-experts", tasks=20, seed=252_923, cluster=parse_cluster("mixed-3"))
    within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=None)
    solver = solver_with_one_thread()
    solver.parameters.linearization_level = 0
    model = CpSatModel(instance, Objective.MAKESPAN, within, is_proof=False)
    assert solver.solve(model.proto_model) == cp_model.OPTIMAL
    assert round(solver.objective_value) == 573
