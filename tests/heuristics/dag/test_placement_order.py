"""Tests of the order in which list schedulers take tasks."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.placement_order import placement_order
from heuristics.dag.ranks import upward_ranks
from instances import DagInstance
from tests.strategies import dag_instances


def test_rank_order_of_the_example(example_e: DagInstance) -> None:
    """Tests the order 0, 2, 1, 4, 3 by hand: task 2 has the higher rank than 1, task 4 than 3."""
    arrays = dag_arrays(example_e)
    assert placement_order(arrays, upward_ranks(arrays)).tolist() == [0, 2, 1, 4, 3]


def test_ready_tasks_only() -> None:
    """Tests that a task of high priority waits for a predecessor of low priority, and that ties go by index."""
    arrays = dag_arrays(DagInstance.from_lists([[1]] * 4, [(3, 0, 0), (3, 1, 0)]))
    assert placement_order(arrays, np.array([9.0, 9.0, 5.0, 1.0])).tolist() == [2, 3, 0, 1]


@given(instance=dag_instances(max_tasks=7), seed=st.integers(0, 99))
def test_order_is_topological(instance: DagInstance, seed: int) -> None:
    """Tests that every edge points forwards whatever the priorities, and that equal ones give the smallest order."""
    arrays, n = dag_arrays(instance), instance.num_tasks
    order = placement_order(arrays, np.random.default_rng(seed).integers(3, size=n).astype(float))
    place = np.argsort(order)
    assert sorted(order.tolist()) == list(range(n))
    assert (place[instance.edges[:, 0]] < place[instance.edges[:, 1]]).all()
    assert placement_order(arrays, np.full(n, 4.0)).tolist() == instance.topological_order.tolist()
