"""Tests of the nonlinear integer program, solved by SCIP as it stands."""

from __future__ import annotations

from functools import partial

import pyomo.environ as pyo
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.dag.milp.nip import Form, Nip
from formulations.dag.probing.windows import windows
from heuristics.dag.list_scheduling import heft
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from tests.brute_force import optimum
from tests.strategies import dag_instances

OBJECTIVES = st.sampled_from(FINISH_OBJECTIVES)
some = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
many = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
every_form = pytest.mark.parametrize("form", ["order", "product"])


def build(instance: DagInstance, form: Form, objective: Objective, at_most: int | None = None) -> Nip:
    """Return a model within the windows of an upper bound."""
    within = windows(instance, objective, lower_bound=0, objective_at_most=at_most)
    return Nip(instance, objective, within, form=form)


def assert_satisfied(model: Nip, value: int) -> None:
    """Check that the values of the variables satisfy every row and bound, and cost what they should."""
    for row in model.pyomo_model.component_data_objects(pyo.Constraint, active=True):
        body = pyo.value(row.body)
        assert row.lower is None or body >= row.lower - 1e-9, row.name
        assert row.upper is None or body <= row.upper + 1e-9, row.name
    for variable in model.pyomo_model.component_data_objects(pyo.Var):
        assert variable.lb <= variable.value <= variable.ub, variable.name
    assert pyo.value(model.pyomo_model.cost) == value


def assert_optimum(form: Form, instance: DagInstance, objective: Objective) -> None:
    """Check SCIP's optimum of the model alone, without start and bound, and that its schedule is a solution."""
    pytest.importorskip("pyscipopt", reason="the extra scip is not installed")
    from solvers.backends.nip import Scip

    best = optimum(instance, objective)
    within = windows(instance, objective, lower_bound=0, objective_at_most=None)
    if within.is_empty:
        assert best is None
        return
    model = Nip(instance, objective, within, form=form)
    answer = Scip().solve(
        model.pyomo_model,
        has_start=False,
        absolute_gap=0.999,
        time_limit=60.0,
        threads=1,
        seed=1,
        report=lambda value, bound: None,
        should_stop=lambda: False,
    )
    assert answer.is_infeasible == (best is None)
    if best is None:
        return
    assert answer.dual_bound is not None
    assert best - 1.0 - 1e-3 < answer.dual_bound <= best + 1e-3
    schedule = model.schedule()
    assert verify_dag_schedule(instance, schedule) == []
    assert objective_value(instance, schedule, objective) == best
    within_best = build(instance, form, objective, best)
    assert within_best.set_start(schedule)
    assert_satisfied(within_best, best)


@given(instance=dag_instances(max_tasks=6), objective=OBJECTIVES)
@some
def test_order_form_has_the_optimum_of_brute_force(instance: DagInstance, objective: Objective) -> None:
    """Tests the order form on small instances."""
    assert_optimum("order", instance, objective)


@given(instance=dag_instances(max_tasks=5), objective=OBJECTIVES)
@some
def test_product_form_has_the_optimum_of_brute_force(instance: DagInstance, objective: Objective) -> None:
    """Tests the product form on small instances."""
    assert_optimum("product", instance, objective)


@pytest.mark.slow
@every_form
@given(instance=dag_instances(max_tasks=6), objective=OBJECTIVES)
@many
def test_optimum_is_that_of_brute_force_often(form: Form, instance: DagInstance, objective: Objective) -> None:
    """Tests both forms on more instances."""
    assert_optimum(form, instance, objective)


@every_form
@given(instance=dag_instances(max_tasks=7), objective=OBJECTIVES)
@some
def test_list_schedule_is_a_solution(form: Form, instance: DagInstance, objective: Objective) -> None:
    """Tests that the values set from HEFT's schedule satisfy every row and bound, and cost what the schedule costs."""
    schedule = heft(instance)
    if schedule is not None:
        value = objective_value(instance, schedule, objective)
        model = build(instance, form, objective, value)
        assert model.set_start(schedule)
        assert_satisfied(model, value)


@every_form
def test_overlap_is_no_solution(form: Form) -> None:
    """Tests that two tasks that overlap by one tick on one GPU break a row, on two GPUs they do not."""
    instance = DagInstance.from_lists([[4, 4], [4, 4]])
    model = build(instance, form, Objective.MAKESPAN)
    model.set_start(DagSchedule(gpu=[0, 0], start=[0, 4]))
    assert_satisfied(model, 8)
    model.pyomo_model.start[1].set_value(3)
    with pytest.raises(AssertionError, match=r"apart|h_first|i_first"):
        assert_satisfied(model, 8)
    model.set_start(DagSchedule(gpu=[0, 1], start=[0, 3]))
    assert_satisfied(model, 7)


@every_form
def test_duration_0_occupies_nothing(form: Form) -> None:
    """Tests that a task of duration 0 on one GPU takes no part in its pairs there, and does elsewhere."""
    instance = DagInstance.from_lists([[4, 4], [0, 4]])
    both = build(instance, form, Objective.MAKESPAN).pyomo_model.both
    assert str(both[0, 1].expr) == "on[0,1]*on[1,1]"


def test_delays_are_cut_to_what_excludes() -> None:
    """Tests that a delay beyond the windows becomes the least one that no schedule within them can keep."""
    instance = DagInstance.from_lists([[2, 2], [2, 2]], [(0, 1, 10**6)])
    model = build(instance, "order", Objective.MAKESPAN, 20)
    (row,) = model.pyomo_model.after.values()
    for variable in model.pyomo_model.component_data_objects(pyo.Var):
        variable.set_value(0)
    model.on[0, 0].set_value(1)
    model.on[1, 1].set_value(1)
    model.pyomo_model.start[1].set_value(18)  # the latest start
    assert pyo.value(row.body) == 1
    assert row.upper == 0


def test_size_of_the_heft_example(heft_example: DagInstance) -> None:
    """Tests the sizes worked out for this formulation: 58 columns in order form, 37 in product form."""
    pairs = 21
    for form, extra_columns, extra_rows in (("order", pairs, 2 * pairs), ("product", 0, pairs)):
        model = build(heft_example, form, Objective.MAKESPAN, 80).pyomo_model
        assert len(model.both) == pairs
        columns = list(model.component_data_objects(pyo.Var))
        rows = list(model.component_data_objects(pyo.Constraint, active=True))
        assert len(columns) == 26 + 10 + 1 + extra_columns
        assert len(rows) == 4 * 10 + 15 + extra_rows + len(model.window_load)


def test_unknown_form(example_e: DagInstance) -> None:
    """Tests the message for a form that is not offered."""
    with pytest.raises(ValueError, match="form: expected one of order, product, got 'packing'"):
        partial(build, form="packing")(example_e, objective=Objective.MAKESPAN)
