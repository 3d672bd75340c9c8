"""Tests of the number of down-sets."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from formulations.dag.down_sets.search_space import count_down_sets
from instances.dag.instance import DagInstance
from tests.strategies import dag_instances


def chain(tasks: int) -> DagInstance:
    """Return tasks one after the other."""
    return DagInstance.from_lists([[1]] * tasks, [(task, task + 1, 0) for task in range(tasks - 1)])


@given(instance=dag_instances(max_tasks=7))
def test_counts_all_closed_sets(instance: DagInstance) -> None:
    """Tests against all subsets."""
    edges = instance.edges.tolist()
    subsets = product([False, True], repeat=instance.num_tasks)
    closed = sum(all(members[tail] or not members[head] for tail, head in edges) for members in subsets)
    assert count_down_sets(instance, 1_000) == closed


def test_a_chain_has_one_more_than_tasks_and_independent_tasks_a_power_of_two() -> None:
    """Tests the two ends, beyond a machine word."""
    assert count_down_sets(chain(70), 1_000) == 71
    assert count_down_sets(DagInstance.from_lists([[1]] * 9), 1_000) == 512


@given(most=st.integers(1, 100))
def test_stops_above_the_limit(most: int) -> None:
    """Tests that a number above the limit is some number above it, and one within it is right."""
    count = count_down_sets(DagInstance.from_lists([[1]] * 6), most)
    assert count == 64 if most >= 64 else count > most
