"""Tests of bounds under contention: the path that knows it, and the others beside it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.dag.bounds.join_aware_path import join_aware_path
from formulations.dag.bounds.nic_aware_path import nic_aware_path
from formulations.dag.windows import horizon, windows
from instances import Contention, DagInstance, Objective
from solvers.lower_bound import BOUND_METHODS, lower_bound
from tests.brute_force_contention import optimum_with_nics
from tests.contended_instances import contended_instance
from tests.strategies import dag_instances


@pytest.mark.parametrize("objective", list(Objective))
def test_no_bound_exceeds_the_optimum(objective: Objective) -> None:
    """Tests every bound on 40 seeded instances against brute force, and that the path is tight on most of them."""
    met = above_join_aware = 0
    for seed in range(40):
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
    assert met >= 20
    assert above_join_aware >= 3


@given(instance=dag_instances(max_tasks=5, servers=True), objective=st.sampled_from(list(Objective)))
@settings(max_examples=150, deadline=None)
def test_between_join_aware_path_and_optimum(instance: DagInstance, objective: Objective) -> None:
    """Tests that the bound is never below the join-aware path, and never above the optimum under contention."""
    best = optimum_with_nics(instance, objective)
    if best is not None:
        assert join_aware_path(instance, objective) <= nic_aware_path(instance, objective) <= best


@given(instance=dag_instances(max_tasks=6), objective=st.sampled_from(list(Objective)))
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


@given(instance=dag_instances(max_tasks=5, servers=True), objective=st.sampled_from(list(Objective)))
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
