"""Tests of the generalised disjunctive program: its three transformations and their constants."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import get_args

import numpy as np
import pyomo.environ as pyo
import pyomo.gdp.plugins.multiple_bigm
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.dag.milp.generalised_disjunctive import GeneralisedDisjunctiveModel, Transformation
from formulations.dag.probing.windows import windows
from heuristics.dag.list_scheduling import heft
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from solvers.backends.highs import compile_milp, run_highs
from tests.strategies import dag_instances

TRANSFORMATIONS = get_args(Transformation)


def build(instance: DagInstance, transformation: str, at_most: int | None = None) -> GeneralisedDisjunctiveModel:
    """Return a model of the makespan."""
    within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=at_most)
    return GeneralisedDisjunctiveModel(instance, Objective.MAKESPAN, within, transformation=transformation)


def relaxation(instance: DagInstance, transformation: str) -> float:
    """Return the value of the LP relaxation within the windows of HEFT's schedule, load rows left out."""
    at_most = objective_value(instance, heft(instance), Objective.MAKESPAN)
    model = build(instance, transformation, at_most).pyomo_model
    model.window_load.deactivate()
    milp, _ = compile_milp(model, has_start=False)
    answer = run_highs(
        replace(milp, is_integer=np.zeros_like(milp.is_integer)), absolute_gap=0.0, time_limit=60.0, threads=1, seed=1
    )
    assert answer.dual_bound is not None
    return answer.dual_bound


def test_all_disjunctions_are_gone(example_e: DagInstance) -> None:
    """Tests that nothing but rows and variables is left, with all constants finite."""
    for transformation in TRANSFORMATIONS:
        milp, columns = compile_milp(build(example_e, transformation).pyomo_model, has_start=False)
        assert np.isfinite(milp.entries).all()
        assert all(column.lb is not None and column.ub is not None for column in columns)


@given(instance=dag_instances(max_tasks=6, memory=False))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_relaxations_are_ordered(instance: DagInstance) -> None:
    """Tests that multiple constants relax no more than single ones, and hulls no more than these."""
    values = [relaxation(instance, transformation) for transformation in ("bigm", "mbigm", "hull")]
    assert values[0] <= values[1] + 1e-6
    assert values[1] <= values[2] + 1e-6


def test_relaxations_differ() -> None:
    """Tests worked examples: four tasks of 4, 6, 12 ticks, half of which fit on the first GPU, a quarter on the next.

    Single constants: C >= max(4 + 2/2, 6 - 2 * 3/4, 12 - 8 * 3/4) = 6. Multiple ones: 4/2 + 6/4 + 12/4 = 6.5.
    Two tasks of 4 ticks on one GPU: the hull of "s0 >= s1 + 4 or s1 >= s0 + 4" has s0 + s1 >= 4, so C >= 2 + 4.
    """
    full = DagInstance.from_lists([[4, 6, 12]] * 4, task_memory=[2] * 4, gpu_memory=[4, 2, None])
    assert relaxation(full, "bigm") == pytest.approx(6)
    assert relaxation(full, "mbigm") == pytest.approx(6.5)
    queue = DagInstance.from_lists([[4], [4]])
    assert relaxation(queue, "mbigm") < 6 - 1e-6
    assert relaxation(queue, "hull") == pytest.approx(6)


def test_no_solver_is_asked_for_constants(example_e: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that every constant of the multiple big-M form is given, so that no solver computes one."""

    def refuse(*_: object) -> None:
        raise AssertionError("a solver was asked")

    monkeypatch.setattr(pyomo.gdp.plugins.multiple_bigm, "_calc_M", refuse)
    build(example_e, "mbigm")


@given(instance=dag_instances(max_tasks=4), objective=st.sampled_from(FINISH_OBJECTIVES))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_nothing_is_logged(instance: DagInstance, objective: Objective) -> None:
    """Tests that no constant is given in vain, of which Pyomo would warn."""
    within = windows(instance, objective, lower_bound=0, objective_at_most=None)
    if within.is_empty:
        return
    with pytest.MonkeyPatch.context() as patch:
        heard: list[object] = []
        patch.setattr("logging.Logger.warning", lambda *arguments, **_: heard.append(arguments))
        for transformation in TRANSFORMATIONS:
            GeneralisedDisjunctiveModel(instance, objective, within, transformation=transformation)
    assert heard == []


def test_indicator_of_order_does_not_bind_others() -> None:
    """Tests that two tasks that sit apart may overlap whatever their pair's disjunct says, in every transformation."""
    instance = DagInstance.from_lists([[4, None], [None, 4]])
    for transformation in TRANSFORMATIONS:
        milp, _ = compile_milp(build(instance, transformation).pyomo_model, has_start=False)
        assert run_highs(milp, absolute_gap=0.0, time_limit=60.0, threads=1, seed=1).dual_bound == 4.0


def test_edge_without_any_link_has_no_solution() -> None:
    """Tests that an edge for which the windows leave no pair of GPUs makes the model infeasible."""
    instance = DagInstance.from_lists([[2, None], [None, 2]], [(0, 1, 9)])
    within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=13)
    tight = replace(within, latest_finish=within.latest_finish - 1)
    for transformation in TRANSFORMATIONS:
        model = GeneralisedDisjunctiveModel(instance, Objective.MAKESPAN, tight, transformation=transformation)
        milp, _ = compile_milp(model.pyomo_model, has_start=False)
        assert run_highs(milp, absolute_gap=0.0, time_limit=60.0, threads=1, seed=1).is_infeasible


def test_start_fills_every_variable(example_e: DagInstance) -> None:
    """Tests that disaggregated variables are their source in the disjunct that holds, and 0 in all others."""
    model = build(example_e, "hull", 18)
    schedule = heft(example_e)
    assert schedule is not None
    assert model.set_start(schedule)
    _, columns = compile_milp(model.pyomo_model, has_start=True)
    assert all(column.value is not None for column in columns)
    hull = pyo.TransformationFactory("gdp.hull")
    for task, k in product(range(5), range(2)):
        if (task, k) not in model.on:
            continue
        part = hull.get_disaggregated_var(model.pyomo_model.start[task], model.pyomo_model.place[task, k])
        assert part.value == (schedule.start[task] if schedule.gpu[task] == k else 0)


def test_unknown_transformation(example_e: DagInstance) -> None:
    """Tests the message for a transformation that is not offered."""
    with pytest.raises(ValueError, match="transformation: expected one of bigm, mbigm, hull, got 'cuttingplane'"):
        build(example_e, "cuttingplane")
