"""Tests of the Eastman-Even-Isaacs bound."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.dag.bounds import single_machine as module
from formulations.dag.bounds.paths import join_aware_path
from formulations.dag.bounds.single_machine import (
    _unfinished_work,
    eastman_even_isaacs,
    job_widths,
    mean_busy_time,
    rank_wise_bound,
    shortest_durations,
    srpt,
)
from formulations.dag.incomparable_pairs import reachable
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
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


def test_chains_forks_and_gpus() -> None:
    """Tests a chain (1), a fork of three on two GPUs (2) and on four (3), tasks on one GPU (1) and without work (1)."""
    chain = DagInstance.from_lists([[2] * 4] * 3, [(0, 1, 0), (1, 2, 0)])
    fork = [(0, 1, 0), (0, 2, 0), (0, 3, 0)]
    assert job_widths(chain).tolist() == [1]
    assert job_widths(DagInstance.from_lists([[2] * 2] * 4, fork)).tolist() == [2]
    assert job_widths(DagInstance.from_lists([[2] * 4] * 4, fork)).tolist() == [3]
    assert job_widths(DagInstance.from_lists([[2, None]] * 4, fork)).tolist() == [1]
    assert job_widths(DagInstance.from_lists([[0, 5]] * 4, fork)).tolist() == [1]


def test_paths_through_other_jobs_count() -> None:
    """Tests that two tasks of a job that a task of another one orders cannot run at once."""
    instance = DagInstance.from_lists(
        [[2, 2]] * 3, [(0, 1, 0), (1, 2, 0)], job_of_task=[0, 1, 0], release=[0, 0], name="through"
    )
    assert job_widths(instance).tolist() == [1, 1]


def test_large_instances_count_gpus_and_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that beyond the limit only GPUs and tasks are counted."""
    chain = DagInstance.from_lists([[2] * 4] * 3, [(0, 1, 0), (1, 2, 0)])
    monkeypatch.setattr(module, "MAX_TASKS", 2)
    assert job_widths(chain).tolist() == [3]


@given(instance=dag_instances(max_tasks=7))
@settings(max_examples=100, deadline=None)
def test_largest_set_without_paths(instance: DagInstance) -> None:
    """Tests against all subsets of every job's tasks."""
    ordered = reachable(instance)
    takes_time = shortest_durations(instance) > 0
    for job, width in enumerate(job_widths(instance).tolist()):
        tasks = np.flatnonzero((instance.job_of_task == job) & takes_time).tolist()
        largest = max(
            (
                size
                for size in range(1, len(tasks) + 1)
                for some in combinations(tasks, size)
                if not ordered[np.ix_(some, some)].any()
            ),
            default=1,
        )
        gpus = int(instance.allowed[tasks].any(axis=0).sum()) if tasks else 1
        assert width == max(1, min(largest, gpus))


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

    def last_of(jobs: tuple[int, ...]) -> int:
        asked.append(jobs)
        return 7

    assert rank_wise_bound(instance, np.array([5, 2]), last_of) == 2 + 7 + 2 * 2
    assert asked == [(0, 1)]


def test_makespan_and_empty_jobs_srpt() -> None:
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
