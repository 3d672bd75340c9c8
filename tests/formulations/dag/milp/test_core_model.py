"""Tests of what the Pyomo models share."""

from __future__ import annotations

import pyomo.environ as pyo

from formulations.dag.milp.core_model import CoreModel
from formulations.dag.windows import windows
from instances import DagInstance, Objective
from solvers.compiled_milp import compile_milp
from tests.formulations.dag.milp.linear_models import solved


def core(instance: DagInstance, objective: Objective, at_most: int | None = None) -> CoreModel:
    """Return a model without transfers and non-overlap."""
    return CoreModel(instance, objective, windows(instance, objective, lower_bound=0, objective_at_most=at_most))


def test_relaxation_of_its_own_is_the_join_aware_path(join_example: DagInstance) -> None:
    """Tests that placement and windows alone prove the 9 that join-aware heads and tails give."""
    answer = solved(core(join_example, Objective.MAKESPAN))
    assert answer.dual_bound == 9.0


def test_size(example_e: DagInstance) -> None:
    """Tests columns and rows: x per pair that is left, s per task and C; four rows per task."""
    model = core(example_e, Objective.MAKESPAN)
    milp, columns = compile_milp(model.pyomo_model, has_start=False)
    assert len(columns) == 9 + 5 + 1
    assert int(milp.is_integer.sum()) == 9
    assert len(milp.row_lower) == 4 * 5


def test_memory_has_a_row_per_limited_gpu(example_e_with_memory: DagInstance) -> None:
    """Tests that the GPU with 12 bytes takes at most three tasks of 4, and the one without a limit has no row."""
    model = core(example_e_with_memory, Objective.MAKESPAN).pyomo_model
    (row,) = model.memory.values()
    assert row.upper == 12
    for task, k in model.on:
        model.on[task, k].set_value(int(k == 0))
    assert pyo.value(row.body) == 20


def test_variables_are_bounded(example_e: DagInstance) -> None:
    """Tests that every variable has finite bounds, which spatial branch and bound needs."""
    for objective in Objective:
        _, columns = compile_milp(core(example_e, objective).pyomo_model, has_start=False)
        assert all(column.lb is not None and column.ub is not None for column in columns)


def test_jobs_without_weight_and_tasks() -> None:
    """Tests that weighted completion counts releases of jobs without tasks, and nothing of those without weight."""
    instance = DagInstance.from_lists([[3]], job_of_task=[0], release=[1, 5, 7], weight=[2, 3, 0])
    answer = solved(core(instance, Objective.WEIGHTED_COMPLETION))
    assert answer.dual_bound == 2 * 4 + 3 * 5
