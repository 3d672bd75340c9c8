"""Tests of the mean-busy-time bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.dag.bounds.mean_busy_time import _unfinished_work, mean_busy_time
from instances import DagInstance, Objective
from tests.brute_force import optimum
from tests.strategies import dag_instances


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
    """Tests that m GPUs count as one of m-fold speed, with the smallest durations, but a task runs on one only."""
    instance = DagInstance.from_lists([[4, 9], [9, 4]], job_of_task=[0, 1], release=[0, 0], weight=[1, 1])
    # Two jobs of 2 ticks each, one after the other: M = 1 and 3; each ends at least 4 / 2 after its mean busy time.
    assert mean_busy_time(instance, Objective.WEIGHTED_COMPLETION) == 1 + 2 + 3 + 2
    assert optimum(instance, Objective.WEIGHTED_COMPLETION) == 8


def test_chain_runs_one_task_at_a_time() -> None:
    """Tests a chain of 4 + 4 on two GPUs: M = 2, and 8 / 2 later; two tasks side by side end 8 / 4 later."""
    chain = DagInstance.from_lists([[4, 4], [4, 4]], [(0, 1, 0)])
    pair = DagInstance.from_lists([[4, 4], [4, 4]])
    assert mean_busy_time(chain, Objective.WEIGHTED_COMPLETION) == 2 + 4
    assert mean_busy_time(pair, Objective.WEIGHTED_COMPLETION) == 2 + 2 == optimum(pair, Objective.WEIGHTED_COMPLETION)


def test_last_task_runs_alone() -> None:
    """Tests two tasks of 4 before one of 2: P = 10, M = 2.5; of the work at most t is in the last t <= 2 ticks."""
    instance = DagInstance.from_lists([[4, 4], [4, 4], [2, 2]], [(0, 2, 0), (1, 2, 0)])
    # Integral of 10 - t over [0,2] is 18, of 10 - (2 + 2 (t - 2)) over [2,6] is 16: 2.5 + 34 / 10 = 5.9.
    assert _unfinished_work([4, 4, 2], [2, 2, 0], 2) == 34
    assert mean_busy_time(instance, Objective.WEIGHTED_COMPLETION) == 6
    assert optimum(instance, Objective.WEIGHTED_COMPLETION) == 6


@given(
    tasks=st.lists(st.tuples(st.integers(1, 6), st.integers(0, 12)), min_size=1, max_size=5), width=st.integers(1, 4)
)
@settings(max_examples=200, deadline=None)
def test_unfinished_work_is_an_integral(tasks: list[tuple[int, int]], width: int) -> None:
    """Tests the exact integral against a sum over small steps."""
    durations, tails = [list(column) for column in zip(*tasks, strict=True)]
    total, step = sum(durations), 1 / 200
    time = np.arange(step / 2, 50, step)
    allowed = sum(np.minimum(p, np.maximum(0, time - tail)) for p, tail in tasks)
    expected = (total - np.minimum(np.minimum(width * time, allowed), total)).sum() * step
    assert float(_unfinished_work(durations, tails, width)) == pytest.approx(expected, rel=1e-3, abs=0.02)


@given(instance=dag_instances(max_tasks=7, max_jobs=3))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_never_above_the_optimum(instance: DagInstance) -> None:
    """Tests the bound with several jobs against the optimum."""
    best = optimum(instance, Objective.WEIGHTED_COMPLETION)
    assert best is None or mean_busy_time(instance, Objective.WEIGHTED_COMPLETION) <= best


def test_makespan_and_empty_jobs() -> None:
    """Tests that the makespan gets no bound here, and that jobs without tasks complete at their release."""
    empty = DagInstance.from_lists([], num_gpus=2, release=[3, 4], weight=[2, 1])
    assert mean_busy_time(empty, Objective.WEIGHTED_COMPLETION) == 10
    assert mean_busy_time(empty, Objective.MAKESPAN) == 0
    partly = DagInstance.from_lists([[2]], job_of_task=[1], release=[3, 4], weight=[2, 1])
    assert mean_busy_time(partly, Objective.WEIGHTED_COMPLETION) == 2 * 3 + 6
