"""Tests of what the Pyomo models share."""

from __future__ import annotations

from itertools import product

import pyomo.environ as pyo

from formulations.dag.milp.core_model import CoreModel, add_reduced_transfers, possible_delays
from formulations.dag.probing.windows import windows
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from solvers.backends.highs import compile_milp
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
    for objective in FINISH_OBJECTIVES:
        _, columns = compile_milp(core(example_e, objective).pyomo_model, has_start=False)
        assert all(column.lb is not None and column.ub is not None for column in columns)


def test_jobs_without_weight_and_tasks() -> None:
    """Tests that weighted completion counts releases of jobs without tasks, and nothing of those without weight."""
    instance = DagInstance.from_lists([[3]], job_of_task=[0], release=[1, 5, 7], weight=[2, 3, 0])
    answer = solved(core(instance, Objective.WEIGHTED_COMPLETION))
    assert answer.dual_bound == 2 * 4 + 3 * 5


def transfers(instance: DagInstance, at_most: int) -> CoreModel:
    """Return a model with transfers, but without non-overlap."""
    within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=at_most)
    model = CoreModel(instance, Objective.MAKESPAN, within)
    add_reduced_transfers(model)
    return model


def test_sums_fix_the_products() -> None:
    """Tests that for every placement z[k,l] can only be x[h,k] x[i,l], so that the head starts after the delay."""
    instance = DagInstance.from_lists(
        [[1, 2, 3], [4, 5, 6]], [(0, 1, 6)], latency=[[0, 1, 2], [3, 0, 4], [5, 6, 0]], bytes_per_tick=2.0
    )
    delays = instance.transfer_delays(0)
    for k, l in product(range(3), range(3)):
        model = transfers(instance, 50)
        model.on[0, k].fix(1)
        model.on[1, l].fix(1)
        answer = solved(model)
        assert answer.dual_bound == instance.durations[0, k] + delays[k, l] + instance.durations[1, l]
        values = {pair: round(pyo.value(variable)) for pair, variable in model.pyomo_model.both.items()}
        assert values == {(0, *pair): int(pair == (k, l)) for pair in product(range(3), range(3))}


def test_pairs_without_time_have_no_column() -> None:
    """Tests that a pair of GPUs that the windows leave no time for is left out: both tasks on one GPU remain."""
    instance = DagInstance.from_lists([[2, 2], [2, 2]], [(0, 1, 100)])
    assert possible_delays(transfers(instance, 103), 0) == {(0, 0): 0, (1, 1): 0}
    assert possible_delays(transfers(instance, 104), 0) == {(0, 0): 0, (0, 1): 100, (1, 0): 100, (1, 1): 0}


def test_edges_without_delay_have_no_columns() -> None:
    """Tests that an edge without data needs its row only."""
    instance = DagInstance.from_lists([[2, 2], [2, 2]], [(0, 1, 0)])
    model = transfers(instance, 10)
    assert len(model.pyomo_model.both) == 0
    assert len(model.pyomo_model.after) == 1
    milp, _ = compile_milp(model.pyomo_model, has_start=False)
    assert len(milp.row_lower) == 4 * 2 + 1
