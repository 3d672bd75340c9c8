"""Tests of the rank-wise SRPT bound."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings

from formulations.dag.bounds.join_aware_path import join_aware_path
from formulations.dag.bounds.srpt import rank_wise, srpt
from instances import DagInstance, Objective
from tests.brute_force import optimum
from tests.strategies import dag_instances


def test_short_job_interrupts_a_long_one() -> None:
    """Tests by hand: SRPT ends the jobs of 5 and 1 ticks at 6 and 2; without interruption 2 + 7."""
    instance = DagInstance.from_lists([[5], [1]], job_of_task=[0, 1], release=[0, 1], weight=[1, 1])
    assert srpt(instance, Objective.WEIGHTED_COMPLETION) == 2 + 6
    assert optimum(instance, Objective.WEIGHTED_COMPLETION) == 9


def test_by_rank_and_not_by_job() -> None:
    """Tests that the job whose SRPT time is 7 may end at 3: ranks max(2, 3), max(4, 4), max(7, 4)."""
    instance = DagInstance.from_lists(
        [[4, 9], [9, 4], [3, 3], [3, 3]], job_of_task=[0, 1, 2, 2], release=[0, 0, 0], weight=[1, 1, 1]
    )
    # P = 4, 4, 6 on two GPUs: SRPT ends at 2, 4, 7. The paths alone take 4, 4, 3.
    assert srpt(instance, Objective.WEIGHTED_COMPLETION) == 3 + 4 + 7
    assert optimum(instance, Objective.WEIGHTED_COMPLETION) == 15


def test_weights_make_layers() -> None:
    """Tests by hand: both jobs with weight 1 give 2 + 6, the job of weight 3 alone 2 more times 2."""
    instance = DagInstance.from_lists([[5], [1]], job_of_task=[0, 1], release=[0, 1], weight=[1, 3])
    assert srpt(instance, Objective.WEIGHTED_COMPLETION) == 8 + 2 * 2
    assert optimum(instance, Objective.WEIGHTED_COMPLETION) == 13


def test_makespan_of_a_layer_raises_its_last_rank() -> None:
    """Tests that the last of all jobs ends no earlier than their makespan; a job alone is not asked about."""
    instance = DagInstance.from_lists([[5], [1]], job_of_task=[0, 1], release=[0, 1], weight=[1, 3])
    asked = []

    def last_of(jobs: np.ndarray) -> int:
        asked.append(jobs.tolist())
        return 7

    assert rank_wise(instance, np.array([5, 2]), last_of) == 2 + 7 + 2 * 2
    assert asked == [[0, 1]]


def test_makespan_and_empty_jobs() -> None:
    """Tests that the makespan gets no bound here, that weight 0 counts nothing, and that empty jobs end at release."""
    instance = DagInstance.from_lists([[2]], job_of_task=[1], release=[3, 4, 9], weight=[2, 1, 0])
    assert srpt(instance, Objective.MAKESPAN) == 0
    assert srpt(instance, Objective.WEIGHTED_COMPLETION) == 2 * 3 + 6
    assert srpt(DagInstance.from_lists([], num_gpus=2, weight=[0]), Objective.WEIGHTED_COMPLETION) == 0


@given(instance=dag_instances(max_tasks=7, max_jobs=4))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_between_paths_and_optimum(instance: DagInstance) -> None:
    """Tests that it is never below the path bounds of the jobs, weighted and summed, and never above the optimum."""
    best = optimum(instance, Objective.WEIGHTED_COMPLETION)
    if best is not None:
        value = srpt(instance, Objective.WEIGHTED_COMPLETION)
        assert join_aware_path(instance, Objective.WEIGHTED_COMPLETION) <= value <= best
