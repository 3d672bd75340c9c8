"""Tests of heads and tails: examples by hand, mirror image, and pairs excluded by an upper bound."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.dag.heads_and_tails import heads_and_tails
from formulations.dag.join import INFINITE
from instances.dag.instance import DagInstance
from tests.brute_force import optimum
from tests.strategies import changed, dag_instances

some = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_join_example(join_example: DagInstance) -> None:
    """Tests both forms on the join of A, B, C: heads (8, 7) join-aware, (4, 6) transfer-aware."""
    assert heads_and_tails(join_example).heads.tolist() == [[0, 0], [0, 0], [0, 0], [8, 7]]
    assert heads_and_tails(join_example, join_aware=False).heads.tolist() == [[0, 0], [0, 0], [0, 0], [4, 6]]


def test_join_example_tails(join_example: DagInstance) -> None:
    """Tests tails before a single successor: at home 2 ticks, over the links 2 + delay."""
    tails = heads_and_tails(join_example).tails
    assert tails.tolist() == [[2, 2], [2, 2], [2, 2], [0, 0]]


def test_published_example(heft_example: DagInstance) -> None:
    """Tests the heads of the last task of the HEFT example."""
    assert heads_and_tails(heft_example).heads[9].tolist() == [63, 56, 63]


def test_window_example(window_example: DagInstance) -> None:
    """Tests that heads and tails of the three middle tasks are 2, 3 and 11."""
    around = heads_and_tails(window_example)
    for task in (1, 2, 3):
        assert around.heads[task].tolist() == [2, 3, 11]
        assert around.tails[task].tolist() == [2, 3, 11]
    assert around.heads[4].tolist() == [8, INFINITE, INFINITE]
    assert around.tails[0].tolist() == [8, INFINITE, INFINITE]


def test_example_e(example_e: DagInstance) -> None:
    """Tests all heads and tails of example E, where task 4 may not run on GPU 1."""
    around = heads_and_tails(example_e)
    assert around.heads.tolist() == [[0, 0], [4, 5], [4, 5], [10, 12], [7, INFINITE]]
    assert around.tails.tolist() == [[11, 13], [8, 3], [8, 8], [0, 0], [0, INFINITE]]


def test_example_e_within_its_optimum(example_e: DagInstance) -> None:
    """Tests that a makespan of at most 15 leaves GPU 0 for tasks 0 and 2, GPU 1 for task 3, and narrows heads."""
    around = heads_and_tails(example_e, makespan_at_most=15)
    assert around.allowed.tolist() == [[True, False], [True, True], [True, False], [False, True], [True, False]]
    assert around.heads.tolist() == [[0, INFINITE], [4, 8], [4, INFINITE], [INFINITE, 12], [7, INFINITE]]
    assert around.tails.tolist() == [[11, INFINITE], [8, 3], [8, INFINITE], [INFINITE, 0], [0, INFINITE]]
    assert not heads_and_tails(example_e, makespan_at_most=14).allowed.any(axis=1).all()


def test_memory_bars_local_predecessors() -> None:
    """Tests that predecessors that do not fit beside their successor must cross a link."""
    durations, edges = [[2, 2], [2, 2], [1, None]], [(0, 2, 3), (1, 2, 3)]
    free = DagInstance.from_lists(durations, edges)
    assert heads_and_tails(free).heads[2, 0] == 4  # both local; one remote: 2 + 3 = 5
    tight = DagInstance.from_lists(durations, edges, task_memory=[2, 2, 2], gpu_memory=[5, None])
    assert heads_and_tails(tight).heads[2, 0] == 5


def test_releases_enter_heads_only() -> None:
    """Tests that releases raise heads of their job and what follows, and leave tails alone."""
    instance = DagInstance.from_lists([[3], [4]], [(0, 1, 0)], job_of_task=[0, 1], release=[5, 0])
    around = heads_and_tails(instance)
    assert around.heads.tolist() == [[5], [8]]
    assert around.tails.tolist() == [[4], [0]]
    assert around.job_tails.tolist() == [[0], [0]]  # the edge leads into another job


def test_duration_zero_and_empty_edges() -> None:
    """Tests that an edge without data costs nothing over any link, and that a task of duration 0 passes it on."""
    instance = DagInstance.from_lists([[3, 1], [0, 0], [2, 2]], [(0, 1, 0), (1, 2, 4)], latency=7)
    around = heads_and_tails(instance)
    assert around.heads.tolist() == [[0, 0], [1, 1], [1, 1]]
    assert around.tails.tolist() == [[2, 2], [2, 2], [0, 0]]


@given(instance=dag_instances(max_tasks=7, max_jobs=1), join_aware=st.booleans())
@some
def test_tails_are_heads_backwards(instance: DagInstance, join_aware: bool) -> None:
    """Tests that reversing all edges and links swaps heads and tails where nothing is released late."""
    at_zero = changed(instance, release=np.zeros(1, dtype=np.int64))
    backwards = changed(
        at_zero, edges=at_zero.edges[:, ::-1], latency=at_zero.latency.T, bytes_per_tick=at_zero.bytes_per_tick.T
    )
    forward, mirrored = (heads_and_tails(one, join_aware=join_aware) for one in (at_zero, backwards))
    assert forward.heads.tolist() == mirrored.tails.tolist()
    assert forward.tails.tolist() == mirrored.heads.tolist()
    assert forward.job_tails.tolist() == forward.tails.tolist()


@given(instance=dag_instances(max_tasks=6), slack=st.integers(0, 3))
@some
def test_excluded_pairs_are_not_needed(instance: DagInstance, slack: int) -> None:
    """Tests that forbidding the pairs excluded by an upper bound of at least the optimum leaves the optimum."""
    best = optimum(instance)
    if best is None:
        return
    left = heads_and_tails(instance, makespan_at_most=best + slack).allowed
    assert left.any(axis=1).all()
    narrowed = changed(instance, durations=np.where(left, instance.durations, -1))
    assert optimum(narrowed) == best


@given(instance=dag_instances(max_tasks=7))
@some
def test_join_aware_is_never_below(instance: DagInstance) -> None:
    """Tests that the join-aware form is at least the transfer-aware one, pair by pair."""
    strong, weak = (heads_and_tails(instance, join_aware=join_aware) for join_aware in (True, False))
    assert (strong.heads >= weak.heads).all()
    assert (strong.tails >= weak.tails).all()
    assert (strong.job_tails >= weak.job_tails).all()


@given(instance=dag_instances(max_tasks=5, max_gpus=2, max_jobs=1))
@some
def test_heads_hold_in_every_order(instance: DagInstance) -> None:
    """Tests that the optimum with one task nailed to a GPU is at least head + duration + tail there."""
    around = heads_and_tails(instance)
    for task in range(instance.num_tasks):
        for k in np.flatnonzero(instance.allowed[task]).tolist():
            durations = np.array(instance.durations)
            durations[task] = np.where(np.arange(instance.num_gpus) == k, durations[task], -1)
            best = optimum(changed(instance, durations=durations))
            through = int(around.heads[task, k]) + int(durations[task, k]) + int(around.tails[task, k])
            assert best is None or through <= best
