"""Tests of the energetic bound."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from formulations.dag.bounds.energetic import energetic
from formulations.dag.bounds.join_aware_path import join_aware_path
from formulations.dag.bounds.window_load import window_load
from instances import DagInstance, Objective
from tests.brute_force import optimum
from tests.strategies import dag_instances


def test_window_example(window_example: DagInstance) -> None:
    """Tests the optimum 12 where window loads end at 11: within 11, each GPU holds one task of the middle at most."""
    assert energetic(window_example, Objective.MAKESPAN) == 12 == optimum(window_example)
    assert window_load(window_example, Objective.MAKESPAN) == 11


def test_published_examples(heft_example: DagInstance, join_example: DagInstance, example_e: DagInstance) -> None:
    """Tests that the optima 73, 10 and 15 are proved without any search."""
    assert energetic(heft_example, Objective.MAKESPAN) == 73
    assert energetic(join_example, Objective.MAKESPAN) == 10
    assert energetic(example_e, Objective.MAKESPAN) == 15


def test_area_and_fixed_pairs() -> None:
    """Tests two tasks of 10 or 25 ticks: within 19 both need GPU 0, which has room for one."""
    assert energetic(DagInstance.from_lists([[10, 25], [10, 25]]), Objective.MAKESPAN) == 20


def test_jobs_are_summed_by_weight_and_rank() -> None:
    """Tests by hand two jobs of two tasks of 3 and 4 ticks on one GPU: alone 6 and 8, the later one at 14."""
    instance = DagInstance.from_lists([[3], [3], [4], [4]], job_of_task=[0, 0, 1, 1], release=[0, 0], weight=[2, 1])
    # Weight 1 for both: 6 and 14; 1 more for job 0: 6.
    assert energetic(instance, Objective.WEIGHTED_COMPLETION) == 6 + 14 + 6
    assert optimum(instance, Objective.WEIGHTED_COMPLETION) == 2 * 6 + 14


def test_edges_between_jobs_keep_their_heads() -> None:
    """Tests that a job that waits for another one counts from there: 5, then 5 + 3 with its two tasks on one GPU."""
    instance = DagInstance.from_lists(
        [[5, None], [None, 2], [None, 1]], [(0, 1, 0), (0, 2, 0)], job_of_task=[0, 1, 1], release=[0, 0], weight=[0, 1]
    )
    assert energetic(instance, Objective.WEIGHTED_COMPLETION) == 8 == optimum(instance, Objective.WEIGHTED_COMPLETION)


def test_empty_jobs_and_no_tasks() -> None:
    """Tests that no tasks give 0, and that a job without tasks completes at its release."""
    assert energetic(DagInstance.from_lists([], num_gpus=2), Objective.MAKESPAN) == 0
    instance = DagInstance.from_lists([[3], [2]], job_of_task=[0, 0], release=[0, 9], weight=[1, 2])
    assert energetic(instance, Objective.WEIGHTED_COMPLETION) == 5 + 18
    assert energetic(DagInstance.from_lists([[0], [0]], release=[4]), Objective.MAKESPAN) == 4


def test_infeasible_instance_has_some_bound() -> None:
    """Tests that an instance without any schedule ends, with a bound that is no infinity."""
    instance = DagInstance.from_lists([[1, 1]] * 4, task_memory=[2] * 4, gpu_memory=[3, 5])
    assert 1 <= energetic(instance, Objective.MAKESPAN) <= 4


@given(instance=dag_instances(max_tasks=7))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_between_path_and_optimum(instance: DagInstance) -> None:
    """Tests for both objectives that it is never below the join-aware path and never above the optimum."""
    for objective in Objective:
        best = optimum(instance, objective)
        if best is not None:
            assert join_aware_path(instance, objective) <= energetic(instance, objective) <= best
