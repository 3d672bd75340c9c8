"""Tests of the window-load bound."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from formulations.dag.bounds.join_aware_path import join_aware_path
from formulations.dag.bounds.window_load import window_load, window_load_lp
from formulations.dag.heads_and_tails import heads_and_tails
from instances import DagInstance, Objective
from tests.brute_force import optimum
from tests.strategies import dag_instances


def test_window_example(window_example: DagInstance) -> None:
    """Tests 10.8, so 11, where the join-aware path gives 10: three tasks do not fit between A and Z."""
    assert window_load(window_example, Objective.MAKESPAN) == 11
    assert join_aware_path(window_example, Objective.MAKESPAN) == 10


def test_far_gpu_proves_nothing_false(window_example: DagInstance) -> None:
    """Tests that rows of the far GPU, whose heads and tails sum to 22, never claim more than the optimum 12."""
    _, lp = window_load_lp(window_example, heads_and_tails(window_example), 10)
    assert max(row.base for row in lp.rows) <= 10
    assert len(lp.rows) > 3 + 5  # rows were separated beyond those of GPUs and tasks


def test_published_example(heft_example: DagInstance) -> None:
    """Tests that the HEFT example stays at 63."""
    assert window_load(heft_example, Objective.MAKESPAN) == 63


def test_other_objective_has_no_bound(window_example: DagInstance) -> None:
    """Tests that for weighted completion, and without tasks, nothing is claimed."""
    assert window_load(window_example, Objective.WEIGHTED_COMPLETION) == 0
    assert window_load(DagInstance.from_lists([], num_gpus=1), Objective.MAKESPAN) == 0


@given(instance=dag_instances(max_tasks=7))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_deadline_at_the_optimum_is_not_refuted(instance: DagInstance) -> None:
    """Tests that assuming at most the optimum never proves more than it."""
    best = optimum(instance)
    if best is not None:
        around = heads_and_tails(instance, makespan_at_most=best)
        assert window_load_lp(instance, around, best, deadline=best)[0] <= best
