"""Tests of the Eastman-Even-Isaacs bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings

from formulations.dag.bounds.eastman_even_isaacs import eastman_even_isaacs
from formulations.dag.bounds.mean_busy_time import mean_busy_time
from instances import DagInstance, Objective
from tests.brute_force import optimum
from tests.strategies import dag_instances

WEIGHTED = Objective.WEIGHTED_COMPLETION


def one_task_per_job(instance: DagInstance) -> DagInstance:
    """Return the instance with every task as a job of its own, weighted by its number, and one empty job."""
    n = instance.num_tasks
    return replace(
        instance,
        job_of_task=np.arange(n),
        release=np.append(np.resize(instance.release, n), 7),
        weight=np.append(np.arange(n) % 4, 2),
        job_names=tuple(f"j{job}" for job in range(n + 1)),
    )


def test_two_gpus_by_hand() -> None:
    """Tests M1 = 3 x 1 + 3 + 6 = 12 and sum w P = 8: 12 / 2 + 8 / 4; the optimum is 9."""
    instance = DagInstance.from_lists(
        [[2, 2], [3, 5], [4, 1]], job_of_task=[0, 1, 2], release=[0, 0, 0], weight=[1, 1, 3]
    )
    assert eastman_even_isaacs(instance, WEIGHTED) == 8
    identical = replace(instance, durations=np.array([[2, 2], [3, 3], [1, 1]]))
    assert (eastman_even_isaacs(identical, WEIGHTED), optimum(identical, WEIGHTED)) == (8, 9)


def test_fractions_are_rounded_up() -> None:
    """Tests by hand: M1 = 2 + 4 + 10 = 16, 16 / 2 + 10 / 4 = 10.5."""
    instance = DagInstance.from_lists([[6, 6], [2, 2], [2, 2]], job_of_task=[0, 1, 2], release=[0, 0, 0])
    assert eastman_even_isaacs(instance, WEIGHTED) == 11
    assert optimum(instance, WEIGHTED) == 12


def test_one_gpu_is_smiths_rule_from_the_first_release_on() -> None:
    """Tests that on one GPU the bound is the optimum if all are released together, and else counts the first."""
    instance = DagInstance.from_lists([[2], [3], [1]], job_of_task=[0, 1, 2], release=[5, 5, 5], weight=[1, 1, 3])
    assert eastman_even_isaacs(instance, WEIGHTED) == 5 * 5 + 12 == optimum(instance, WEIGHTED)
    assert eastman_even_isaacs(replace(instance, release=np.array([5, 6, 7])), WEIGHTED) == 5 * 5 + 12


def test_conditions() -> None:
    """Tests that nothing is claimed for the makespan or where a job has two tasks, and that empty jobs count."""
    two = DagInstance.from_lists([[2], [3]])
    assert eastman_even_isaacs(two, WEIGHTED) == 0
    assert eastman_even_isaacs(two, Objective.MAKESPAN) == 0
    empty = DagInstance.from_lists([[2]], job_of_task=[1], release=[3, 4], weight=[2, 1])
    assert eastman_even_isaacs(empty, WEIGHTED) == 2 * 3 + 6
    assert eastman_even_isaacs(DagInstance.from_lists([], num_gpus=2, release=[3]), WEIGHTED) == 3


@given(instance=dag_instances(max_tasks=6, max_jobs=1).map(one_task_per_job))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_never_above_mean_busy_time_nor_the_optimum(instance: DagInstance) -> None:
    """Tests that mean busy time is never below it, and neither above the optimum."""
    best = optimum(instance, WEIGHTED)
    if best is not None:
        assert eastman_even_isaacs(instance, WEIGHTED) <= mean_busy_time(instance, WEIGHTED) <= best
