"""Tests of transfers by reduced linearisation."""

from __future__ import annotations

from itertools import product

import pyomo.environ as pyo

from formulations.dag.milp.core_model import CoreModel
from formulations.dag.milp.reduced_transfers import add_reduced_transfers, possible_delays
from formulations.dag.windows import windows
from instances import DagInstance, Objective
from solvers.compiled_milp import compile_milp
from tests.formulations.dag.milp.linear_models import solved


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
