"""Tests of the pairwise disjunctive MILP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.dag.incomparable_pairs import incomparable_pairs, reachable
from formulations.dag.milp.disjunctive import DisjunctiveModel
from formulations.dag.probing.windows import windows
from heuristics.dag.list_scheduling import heft
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from solvers.backends.highs import compile_milp, run_highs
from tests.brute_force import optimum
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance


def test_reachability_and_pairs(example_e: DagInstance) -> None:
    """Tests that paths order tasks, and that pairs share a GPU where both take time."""
    reaches = reachable(example_e)
    assert [(h, i) for h, i in np.argwhere(reaches).tolist()] == [
        (0, 1), (0, 2), (0, 3), (0, 4), (1, 3), (2, 3), (2, 4),
    ]  # fmt: skip
    pairs = incomparable_pairs(example_e, example_e.allowed)
    assert pairs == [(1, 2, [0, 1]), (1, 4, [0]), (3, 4, [0])]


@given(instance=dag_instances(max_tasks=6), objective=st.sampled_from(FINISH_OBJECTIVES))
@settings(max_examples=60, deadline=None)
def test_list_schedule_is_a_solution(instance: DagInstance, objective: Objective) -> None:
    """Tests that the values set from a schedule satisfy every row, and cost what the schedule costs."""
    schedule = heft(instance)
    if schedule is None:
        return
    value = objective_value(instance, schedule, objective)
    model = DisjunctiveModel(instance, objective, windows(instance, objective, lower_bound=0, objective_at_most=value))
    assert model.set_start(schedule)
    milp, _ = compile_milp(model.pyomo_model, has_start=True)
    assert milp.start is not None
    activity = np.zeros(len(milp.row_lower))
    for column in range(len(milp.cost)):
        entries = slice(milp.column_starts[column], milp.column_starts[column + 1])
        activity[milp.row_indices[entries]] += milp.entries[entries] * milp.start[column]
    assert (activity >= milp.row_lower - 1e-9).all()
    assert (activity <= milp.row_upper + 1e-9).all()
    assert (milp.start >= milp.lower).all()
    assert (milp.start <= milp.upper).all()
    assert milp.cost @ milp.start + milp.offset == value


def test_size_of_the_heft_example(heft_example: DagInstance) -> None:
    """Tests columns and rows of the model of the HEFT example against the counts worked out for this formulation."""
    within = windows(heft_example, Objective.MAKESPAN, lower_bound=0, objective_at_most=None)
    model = DisjunctiveModel(heft_example, Objective.MAKESPAN, within)
    num_pairs = len(incomparable_pairs(heft_example, within.around.allowed))
    milp, columns = compile_milp(model.pyomo_model, has_start=False)
    assert len(columns) == 10 * 3 + 10 + 1 + 15 * 9 + num_pairs
    assert int(milp.is_integer.sum()) == 10 * 3 + num_pairs


def test_highs_solves_it_from_a_start(example_e: DagInstance) -> None:
    """Tests that HiGHS, started from HEFT's 18, finds the 15 that brute force finds."""
    schedule = heft(example_e)
    assert schedule is not None
    within = windows(example_e, Objective.MAKESPAN, lower_bound=0, objective_at_most=18)
    model = DisjunctiveModel(example_e, Objective.MAKESPAN, within)
    assert model.set_start(schedule)
    milp, columns = compile_milp(model.pyomo_model, has_start=True)
    heard: list[float] = []
    answer = run_highs(
        milp,
        absolute_gap=0.999,
        time_limit=60.0,
        threads=1,
        seed=1,
        report=lambda value, bound: heard.append(value) if value is not None else None,
    )
    assert answer.is_finished
    assert answer.solution is not None
    for column, value in zip(columns, answer.solution, strict=True):
        column.set_value(value, skip_validation=True)
    found = model.schedule()
    assert objective_value(example_e, found, Objective.MAKESPAN) == 15 == optimum(example_e)
    assert min(heard) < 15.5
