"""Tests of the critical path bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.dag.bounds.paths import critical_path, join_aware_path, nic_aware_path, transfer_aware_path
from formulations.dag.probing.windows import windows
from formulations.dag.windows import horizon
from instances.dag.contention import Contention
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from solvers.bound_methods import BOUND_METHODS
from solvers.lower_bound import lower_bound
from tests.brute_force_contention import optimum_with_nics
from tests.contended_instances import contended_instance
from tests.strategies import dag_instances


def test_examples(
    heft_example: DagInstance, join_example: DagInstance, window_example: DagInstance, example_e: DagInstance
) -> None:
    """Tests the longest paths with smallest durations by hand: 41, 4 + 2, 2 + 4 + 2 and 4 + 3 + 6."""
    values = [critical_path(one, Objective.MAKESPAN) for one in (heft_example, join_example, window_example, example_e)]
    assert values == [41, 6, 8, 13]


def test_releases_begin_the_path() -> None:
    """Tests that a path begins at the release of its first task, or later at that of another one."""
    instance = DagInstance.from_lists([[3], [4], [5]], [(0, 1, 9)], job_of_task=[0, 1, 1], release=[2, 7])
    assert critical_path(instance, Objective.MAKESPAN) == 12  # 7 + 5; 7 + 4 for task 1, which could start at 5


def test_weighted_completion() -> None:
    """Tests that each job counts with the longest path that ends in it, a job without tasks with its release."""
    instance = DagInstance.from_lists(
        [[3, 9], [4, 2], [5, 5]], [(0, 1, 9)], job_of_task=[0, 1, 0], release=[1, 0, 20], weight=[2, 3, 1]
    )
    assert critical_path(instance, Objective.WEIGHTED_COMPLETION) == 2 * (1 + 5) + 3 * (1 + 3 + 2) + 20


def test_memory_bars_fast_gpus() -> None:
    """Tests that the smallest duration is over GPUs on which the task fits."""
    instance = DagInstance.from_lists([[1, 8]], task_memory=[5], gpu_memory=[4, None])
    assert critical_path(instance, Objective.MAKESPAN) == 8


def test_no_tasks() -> None:
    """Tests that without tasks the bound is 0, and the weighted releases for the other objective."""
    empty = DagInstance.from_lists([], num_gpus=1, release=[3], weight=[2])
    assert critical_path(empty, Objective.MAKESPAN) == 0
    assert critical_path(empty, Objective.WEIGHTED_COMPLETION) == 6


def test_examples_join_aware_path(
    heft_example: DagInstance, join_example: DagInstance, window_example: DagInstance, example_e: DagInstance
) -> None:
    """Tests the published examples, 63, 9 and 10, and that E is closed: 15."""
    values = [
        join_aware_path(one, Objective.MAKESPAN) for one in (heft_example, join_example, window_example, example_e)
    ]
    assert values == [63, 9, 10, 15]


def test_fork_is_bounded_like_a_join() -> None:
    """Tests the mirror image: three successors on the only near GPU cannot overlap."""
    instance = DagInstance.from_lists([[1, 1], [4, 4], [4, 4], [4, 4]], [(0, 1, 9), (0, 2, 9), (0, 3, 9)])
    assert join_aware_path(instance, Objective.MAKESPAN) == 13  # all local: 1 + 12; one remote: 1 + 9 + 4 = 14


def test_weighted_completion_join_aware_path() -> None:
    """Tests that successors of other jobs do not count for a job, and that jobs are weighted."""
    instance = DagInstance.from_lists(
        [[1, 1], [4, 4], [4, 4]], [(0, 1, 9), (0, 2, 9)], job_of_task=[0, 1, 1], release=[0, 0], weight=[3, 2]
    )
    assert join_aware_path(instance, Objective.MAKESPAN) == 9
    assert join_aware_path(instance, Objective.WEIGHTED_COMPLETION) == 3 * 1 + 2 * 5


@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
def test_no_bound_exceeds_the_optimum(objective: Objective) -> None:
    """Tests every bound on 24 seeded instances against brute force, and that the path is tight on most of them."""
    met = above_join_aware = 0
    for seed in range(24):
        instance = contended_instance(seed)
        best = optimum_with_nics(instance, objective)
        if best is None:
            continue
        for bound in lower_bound(instance, objective=objective, methods=list(BOUND_METHODS), contention="nic"):
            assert bound.value <= best, (seed, bound)
        value = nic_aware_path(instance, objective)
        assert value >= join_aware_path(instance, objective)
        met += value == best
        above_join_aware += value > join_aware_path(instance, objective)
    assert met >= 10
    assert above_join_aware >= 2


@given(instance=dag_instances(max_tasks=5, servers=True), objective=st.sampled_from(FINISH_OBJECTIVES))
@settings(max_examples=150, deadline=None)
def test_between_join_aware_path_and_optimum(instance: DagInstance, objective: Objective) -> None:
    """Tests that the bound is never below the join-aware path, and never above the optimum under contention."""
    best = optimum_with_nics(instance, objective)
    if best is not None:
        assert join_aware_path(instance, objective) <= nic_aware_path(instance, objective) <= best


@given(instance=dag_instances(max_tasks=6), objective=st.sampled_from(FINISH_OBJECTIVES))
@settings(max_examples=60, deadline=None)
def test_one_server_has_no_queue(instance: DagInstance, objective: Objective) -> None:
    """Tests that on one server, and without the rule, it is the join-aware path."""
    assert nic_aware_path(instance, objective) == join_aware_path(instance, objective)
    assert nic_aware_path(instance, objective, Contention.NONE) == join_aware_path(instance, objective)


def test_fork_join_by_hand() -> None:
    """Tests 4 tasks between two on GPU 0, each on a server of its own: the interface of GPU 0 decides.

    The last of 4 transfers of 5 ticks leaves by 1 + 20, its task runs 2 ticks and sends 5: 28 and 1 more for the join.
    The other way round the first of them comes back at 13 and the queue into GPU 0 ends at 13 + 15 = 28 as well. Heads
    and tails see the one queue or the other: 1 + 5 + 2 + 4 * 5 + 1.
    """
    m = 5
    rows = [[1] + [None] * 4] + [[None] * k + [2] + [None] * (m - 1 - k) for k in range(1, m)] + [[1] + [None] * 4]
    edges = [(0, task, 5) for task in range(1, 5)] + [(task, 5, 5) for task in range(1, 5)]
    instance = DagInstance.from_lists(rows, edges, gpu_servers=[f"s{k}" for k in range(m)])
    assert join_aware_path(instance, Objective.MAKESPAN) == 14
    assert nic_aware_path(instance, Objective.MAKESPAN) == 29
    smaller = DagInstance.from_lists(
        [row[:4] for row in rows[:4]] + [rows[5][:4]],
        [(0, task, 5) for task in range(1, 4)] + [(task, 4, 5) for task in range(1, 4)],
        gpu_servers=[f"s{k}" for k in range(4)],
    )
    assert nic_aware_path(smaller, Objective.MAKESPAN) == optimum_with_nics(smaller) == 24


@given(instance=dag_instances(max_tasks=5, servers=True), objective=st.sampled_from(FINISH_OBJECTIVES))
@settings(max_examples=80, deadline=None)
def test_windows_keep_the_optimum(instance: DagInstance, objective: Objective) -> None:
    """Tests that windows for the optimum itself are not empty, that those for less are or bound it, and the horizon."""
    best = optimum_with_nics(instance, objective)
    everything = windows(instance, objective, lower_bound=0, objective_at_most=None, contention=Contention.NIC)
    if best is None:
        return
    assert everything.at_least <= best <= everything.at_most
    exact = windows(instance, objective, lower_bound=0, objective_at_most=best, contention=Contention.NIC)
    assert not exact.is_empty
    if objective is Objective.MAKESPAN:
        assert best <= horizon(instance)
    assert (np.array(exact.around.heads)[exact.around.allowed] <= exact.latest_finish[exact.around.allowed]).all()


def test_examples_transfer_aware_path(
    heft_example: DagInstance, join_example: DagInstance, window_example: DagInstance
) -> None:
    """Tests the published examples: 54, 6 and 8."""
    values = [transfer_aware_path(one, Objective.MAKESPAN) for one in (heft_example, join_example, window_example)]
    assert values == [54, 6, 8]


def test_forced_transfer_counts() -> None:
    """Tests that data that must cross a link takes the faster of the links that lead there."""
    instance = DagInstance.from_lists(
        [[3, 4, None], [None, None, 5]], [(0, 1, 6)], latency=[[0, 0, 2], [0, 0, 1], [0, 0, 0]], bytes_per_tick=2.0
    )
    assert transfer_aware_path(instance, Objective.MAKESPAN) == 3 + (2 + 3) + 5  # from GPU 1: 4 + (1 + 3) + 5 = 13
    slower = DagInstance.from_lists(
        [[3, 4, None], [None, None, 5]], [(0, 1, 6)], latency=[[0, 0, 9], [0, 0, 1], [0, 0, 0]], bytes_per_tick=2.0
    )
    assert transfer_aware_path(slower, Objective.MAKESPAN) == 4 + (1 + 3) + 5


def test_weighted_completion_transfer_aware_path() -> None:
    """Tests that each job counts with the longest path to its own last task."""
    instance = DagInstance.from_lists(
        [[3, None], [None, 4], [1, 1]], [(0, 1, 2)], job_of_task=[0, 1, 0], release=[1, 0, 6], weight=[2, 3, 5]
    )
    assert transfer_aware_path(instance, Objective.WEIGHTED_COMPLETION) == 2 * (1 + 3) + 3 * (1 + 3 + 2 + 4) + 5 * 6
