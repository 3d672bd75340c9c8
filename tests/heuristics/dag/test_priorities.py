"""Tests of the order in which list schedulers take tasks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.priorities import downward_ranks, optimistic_costs, placement_order, static_levels, upward_ranks
from instances.dag.instance import DagInstance
from tests.strategies import changed, dag_instances


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


def test_example_e(example_e: DagInstance) -> None:
    """Tests all four priorities; means of durations are 4.5, 3, 5.5, 5.5, 6, of delays 4, 2, 5, 5, 2."""
    arrays = dag_arrays(example_e)
    assert upward_ranks(arrays).tolist() == [22.5, 13.5, 16, 5.5, 6]
    assert downward_ranks(arrays).tolist() == [0, 8.5, 6.5, 17, 14]
    assert static_levels(arrays).tolist() == [16, 8.5, 11.5, 5.5, 6]
    assert optimistic_costs(arrays).tolist() == [[11, 13], [8, 3], [8, 8], [0, 0], [0, 0]]


def test_published_upward_ranks(heft_example: DagInstance) -> None:
    """Tests the upward ranks that the HEFT paper prints."""
    published = [108.0, 77.0, 80.0, 80.0, 69.0, 63.333, 42.667, 35.667, 44.333, 14.667]
    assert upward_ranks(dag_arrays(heft_example)) == pytest.approx(published, abs=5e-4)


@given(instance=dag_instances(max_tasks=7, memory=False))
@settings(max_examples=60, deadline=None)
def test_downward_rank_is_upward_rank_backwards(instance: DagInstance) -> None:
    """Tests that reversing all edges and links turns upward rank minus own duration into downward rank."""
    backwards = changed(
        instance, edges=instance.edges[:, ::-1], latency=instance.latency.T, bytes_per_tick=instance.bytes_per_tick.T
    )
    arrays = dag_arrays(instance)
    assert downward_ranks(dag_arrays(backwards)) == pytest.approx(upward_ranks(arrays) - arrays.mean_duration)


def test_optimistic_costs_take_the_mean_delay() -> None:
    """Tests that the table uses one mean delay per edge, and allowed GPUs of the successor only."""
    instance = DagInstance.from_lists(
        [[1, 1, 1], [9, None, 4]],
        [(0, 1, 6)],
        latency=[[0, 0, 0], [0, 0, 3], [0, 0, 0]],
        bytes_per_tick=6.0,
    )
    mean = (5 * 1 + 4) / 6
    assert optimistic_costs(dag_arrays(instance))[0] == pytest.approx([min(9, 4 + mean), 4 + mean, 4])


def test_no_tasks() -> None:
    """Tests that no tasks have no ranks."""
    arrays = dag_arrays(DagInstance.from_lists([], num_gpus=2))
    assert upward_ranks(arrays).shape == downward_ranks(arrays).shape == static_levels(arrays).shape == (0,)
    assert optimistic_costs(arrays).shape == np.empty((0, 2)).shape
