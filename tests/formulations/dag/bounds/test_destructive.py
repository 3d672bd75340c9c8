"""Tests of destructive bounds."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from formulations.dag.bounds.destructive import destructive
from formulations.dag.bounds.window_load import window_load
from instances import DagInstance, Objective
from tests.brute_force import optimum
from tests.strategies import dag_instances


def test_examples(heft_example: DagInstance, window_example: DagInstance, example_e: DagInstance) -> None:
    """Tests 11 (10 is refuted by the window-load LP, 11 is not), E closed at 15, and more than 63 where that is B3."""
    assert 63 < destructive(heft_example, Objective.MAKESPAN) <= 73
    assert destructive(window_example, Objective.MAKESPAN) == 11
    assert destructive(example_e, Objective.MAKESPAN) == 15


def test_removed_pairs_raise_the_bound() -> None:
    """Tests that a deadline that bars slow GPUs proves more than the LP alone: two tasks of 10 or 25, optimum 20."""
    instance = DagInstance.from_lists([[10, 25], [10, 25]])
    assert window_load(instance, Objective.MAKESPAN) < 20
    assert destructive(instance, Objective.MAKESPAN) == 20 == optimum(instance)


def test_other_objective_has_no_bound(window_example: DagInstance) -> None:
    """Tests that for weighted completion, and without tasks, nothing is claimed."""
    assert destructive(window_example, Objective.WEIGHTED_COMPLETION) == 0
    assert destructive(DagInstance.from_lists([], num_gpus=1), Objective.MAKESPAN) == 0


@given(instance=dag_instances(max_tasks=6))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_between_window_load_and_optimum(instance: DagInstance) -> None:
    """Tests that refuting is never weaker than the plain bound and never above the optimum."""
    best = optimum(instance)
    if best is not None:
        assert window_load(instance, Objective.MAKESPAN) <= destructive(instance, Objective.MAKESPAN) <= best
