"""Tests of the mean-busy-time bound."""

from __future__ import annotations

from formulations.dag.bounds.mean_busy_time import mean_busy_time
from instances import DagInstance, Objective
from tests.brute_force import optimum


def test_one_gpu_without_releases_is_smiths_rule() -> None:
    """Tests that on one GPU the bound is the optimum: jobs by weight over duration."""
    instance = DagInstance.from_lists(
        [[2], [3], [1]], job_of_task=[0, 1, 2], release=[0, 0, 0], weight=[1, 1, 3], name="smith"
    )
    # Order 2 (3/1), 0 (1/2), 1 (1/3): 3 x 1 + 1 x 3 + 1 x 6 = 12.
    assert mean_busy_time(instance, Objective.WEIGHTED_COMPLETION) == 12
    assert optimum(instance, Objective.WEIGHTED_COMPLETION) == 12


def test_preemption_at_a_release_by_hand() -> None:
    """Tests a long job that a heavier one interrupts: M = (0..1 and 2..6) and (1..2)."""
    instance = DagInstance.from_lists([[5], [1]], job_of_task=[0, 1], release=[0, 1], weight=[1, 4])
    # M[0] = (1 + 36 - 4) / 10 = 3.3, + 2.5 = 5.8; M[1] = (4 - 1) / 2 = 1.5, + 0.5 = 2; 5.8 + 4 x 2 = 13.8.
    assert mean_busy_time(instance, Objective.WEIGHTED_COMPLETION) == 14
    assert optimum(instance, Objective.WEIGHTED_COMPLETION) == 15  # without preemption: 4 x 2 + 7


def test_two_gpus_share_the_work() -> None:
    """Tests that m GPUs count as one of m-fold speed, with the smallest durations."""
    instance = DagInstance.from_lists([[4, 9], [9, 4]], job_of_task=[0, 1], release=[0, 0], weight=[1, 1])
    # Two jobs of 2 ticks each, one after the other: 2 + 4 = 6; the optimum runs them side by side: 8.
    assert mean_busy_time(instance, Objective.WEIGHTED_COMPLETION) == 6
    assert optimum(instance, Objective.WEIGHTED_COMPLETION) == 8


def test_makespan_and_empty_jobs() -> None:
    """Tests that the makespan gets no bound here, and that jobs without tasks complete at their release."""
    empty = DagInstance.from_lists([], num_gpus=2, release=[3, 4], weight=[2, 1])
    assert mean_busy_time(empty, Objective.WEIGHTED_COMPLETION) == 10
    assert mean_busy_time(empty, Objective.MAKESPAN) == 0
    partly = DagInstance.from_lists([[2]], job_of_task=[1], release=[3, 4], weight=[2, 1])
    assert mean_busy_time(partly, Objective.WEIGHTED_COMPLETION) == 2 * 3 + 6
