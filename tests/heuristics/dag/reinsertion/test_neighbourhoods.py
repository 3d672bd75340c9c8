"""Tests of the sets of tasks that are taken out together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heuristics.dag.reinsertion import neighbourhoods
from heuristics.dag.reinsertion.neighbourhoods import CLUSTER, EXCHANGE, NUM_NEIGHBOURHOODS, PATH
from instances.dag.instance import DagInstance
from instances.dag.schedule import DagSchedule
from tests.compiled import compiled
from tests.heuristics.dag.reinsertion.plans import plan_of, random_plan
from tests.strategies import dag_instances

grow_set = compiled(neighbourhoods.grow_set)


@pytest.mark.parametrize("neighbourhood", range(NUM_NEIGHBOURHOODS))
@given(
    instance=dag_instances(max_tasks=9, memory=False),
    seed=st.integers(0, 99),
    largest=st.integers(1, 9),
    data=st.data(),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_sets(neighbourhood: int, instance: DagInstance, seed: int, largest: int, data: st.DataObject) -> None:
    """Tests that a set holds its first task, each task once, at most the largest size, and leaves no marks."""
    graph, plan, journal = random_plan(instance, seed)
    members = np.full(9, -1, dtype=np.int64)
    members[0] = first = data.draw(st.integers(0, instance.num_tasks - 1))
    state = np.array([seed], dtype=np.uint64)
    size = grow_set(graph, plan, neighbourhood, min(largest, instance.num_tasks), members, journal.mark, state)
    assert 1 <= size <= largest
    assert members[0] == first
    assert len(set(members[:size].tolist())) == size
    assert all(0 <= task < instance.num_tasks for task in members[:size].tolist())
    assert not journal.mark["flag"].any()


def test_cluster_follows_data() -> None:
    """Tests that a cluster grows along the edges with the most data, in both directions."""
    instance = DagInstance.from_lists([[1]] * 6, [(0, 1, 1000), (1, 2, 1), (1, 3, 900), (4, 3, 800), (5, 0, 2)])
    graph, plan, journal = random_plan(instance, 0)
    members = np.zeros(4, dtype=np.int64)
    members[0] = 1
    size = grow_set(graph, plan, CLUSTER, 4, members, journal.mark, np.array([3], dtype=np.uint64))
    assert sorted(members[:size].tolist()) == [0, 1, 3, 4]


def test_path_follows_arcs_without_slack() -> None:
    """Tests that a path follows an edge with its transfer and the order on a GPU, both ways, and no arc with slack."""
    instance = DagInstance.from_lists([[3, None], [None, 4], [None, 5], [1, None]], [(0, 1, 2), (0, 3, 0)])
    graph, plan, journal = plan_of(instance, DagSchedule(gpu=[0, 1, 1, 0], start=[0, 5, 9, 3]))
    for first, expected in {0: {0, 1, 2}, 1: {0, 1, 2}, 2: {0, 1, 2}, 3: {0, 3}}.items():
        for seed in range(20):
            members = np.zeros(4, dtype=np.int64)
            members[0] = first
            size = grow_set(graph, plan, PATH, 4, members, journal.mark, np.array([seed], dtype=np.uint64))
            found = set(members[:size].tolist())
            assert found <= expected
            if first == 2:  # no arc goes on from it
                assert found == {2} | ({1} if size > 1 else set()) | ({0} if size > 2 else set())


def test_exchange_takes_tasks_of_two_gpus() -> None:
    """Tests that half of an exchange is on another GPU, at whatever time, and that one GPU has no partner."""
    instance = DagInstance.from_lists([[2, 2]] * 8, [])
    members, sizes = np.zeros(4, dtype=np.int64), set()
    for seed in range(20):
        graph, plan, journal = plan_of(instance, DagSchedule(gpu=[0, 1] * 4, start=[0, 0, 2, 2, 4, 4, 6, 6]))
        members[0] = 2 * (seed % 4)
        size = grow_set(graph, plan, EXCHANGE, 4, members, journal.mark, np.array([seed], dtype=np.uint64))
        assert set((members[:size] % 2).tolist()) == {0, 1}
        sizes.add(abs(int(members[2]) - int(members[0])) // 2)
        assert grow_set(graph, plan, EXCHANGE, 1, members, journal.mark, np.array([seed], dtype=np.uint64)) == 1
    assert len(sizes) > 2  # the partner is not bound to the time of the first task
    graph, plan, journal = plan_of(instance, DagSchedule(gpu=[0] * 8, start=range(0, 16, 2)))
    assert grow_set(graph, plan, EXCHANGE, 4, members, journal.mark, np.array([1], dtype=np.uint64)) <= 2
