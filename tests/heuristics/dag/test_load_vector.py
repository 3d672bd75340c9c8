"""Tests of placements as loads, of the plan distance and of the finish time gap."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import place_by_list
from heuristics.dag.load_vector import (
    euclidean_distance,
    final_loads,
    finish_time_gap,
    hamming_distance,
    manhattan_distance,
    plan_distance,
    running_loads,
    sum_distance,
)
from instances.dag.objective import Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance

DURATIONS = np.array([[2.0, 4.0], [1.0, 2.0], [3.0, 6.0], [2.0, 4.0]])  # work 4, 2, 6, 4 over speeds 2, 1

FOUR = np.array([[0, 0, 0, 1, 0], [0, 1, 0, 1, 0], [1, 1, 0, 1, 0], [0, 1, 0, 0, 0]])
"""Placements of example E: HEFT's, the optimal one, and two others."""

FOUR_LOADS = [[16, 16, 16, 3, 16], [13, 6, 13, 6, 13], [11, 11, 9, 11, 9], [21, 3, 21, 21, 21]]


def test_loads_of_the_published_model() -> None:
    """Tests r and rho of z = (0, 1, 0, 0) and r of x = (1, 1, 0, 0)."""
    z, x = np.array([0, 1, 0, 0]), np.array([1, 1, 0, 0])
    assert final_loads(DURATIONS, z).tolist() == [7, 2, 7, 7]
    assert running_loads(DURATIONS, z, np.arange(4)).tolist() == [2, 2, 5, 7]
    assert final_loads(DURATIONS, x).tolist() == [6, 6, 5, 5]


def test_order_matters_to_running_loads_only() -> None:
    """Tests rho when the tasks are placed from the last to the first."""
    z = np.array([0, 1, 0, 0])
    assert running_loads(DURATIONS, z, np.array([3, 2, 1, 0])).tolist() == [7, 2, 5, 2]


def test_plan_distances_of_the_example(example_e: DagInstance) -> None:
    """Tests the six distances of four placements, their finish time gaps and the correlation of the two."""
    assert final_loads(example_e.durations, FOUR).tolist() == FOUR_LOADS
    makespans = [_makespan(example_e, gpu) for gpu in FOUR]
    assert makespans == [18, 15, 18, 24]
    pairs = list(combinations(range(4), 2))
    distances = [plan_distance(example_e.durations, FOUR[one], FOUR[other]) for one, other in pairs]
    gaps = [finish_time_gap(makespans[one], makespans[other]) for one, other in pairs]
    assert distances == pytest.approx([11.662, 14.560, 23.833, 9.274, 20.640, 23.495], abs=5e-4)
    assert gaps == [3, 0, 6, 3, 9, 6]
    assert np.corrcoef(distances, gaps)[0, 1] == pytest.approx(0.680, abs=5e-4)


def test_other_distances() -> None:
    """Tests all four distances of the first two placements of E by hand."""
    one, other = np.array(FOUR_LOADS[0], dtype=float), np.array(FOUR_LOADS[1], dtype=float)
    assert euclidean_distance(one, other) == pytest.approx(np.sqrt(9 + 100 + 9 + 9 + 9))
    assert manhattan_distance(one, other) == 3 + 10 + 3 + 3 + 3
    assert sum_distance(one, other) == 3 + 10 + 3 - 3 + 3
    assert hamming_distance(FOUR[0], FOUR[1]) == 1


def test_many_pairs_at_once() -> None:
    """Tests that distances of stacked placements are those of each pair."""
    loads = np.array(FOUR_LOADS, dtype=float)
    for distance in (euclidean_distance, manhattan_distance, sum_distance):
        table = distance(loads[:, None], loads)
        assert table.shape == (4, 4)
        assert table[1, 3] == distance(loads[1], loads[3])
    assert hamming_distance(FOUR[:, None], FOUR)[2].tolist() == [2, 1, 0, 2]


@given(data=st.data(), n=st.integers(0, 6), m=st.integers(1, 3))
def test_loads_equal_plain_sums(data: st.DataObject, n: int, m: int) -> None:
    """Tests r and rho against sums over tasks, one placement and several."""
    ticks = st.lists(st.integers(0, 9), min_size=m, max_size=m)
    durations = np.array([data.draw(ticks) for _ in range(n)], dtype=np.int64).reshape(n, m)
    gpus = st.lists(st.integers(0, m - 1), min_size=n, max_size=n)
    placements = np.array([data.draw(gpus) for _ in range(2)], dtype=np.int64).reshape(2, n)
    order = data.draw(st.permutations(range(n)))
    final, running = [], []
    for gpu in placements.tolist():
        final.append([sum(int(durations[j, k]) for j in range(n) if gpu[j] == k) for k in gpu])
        before = [[j for j in order[: order.index(i) + 1] if gpu[j] == gpu[i]] for i in range(n)]
        running.append([sum(int(durations[j, gpu[i]]) for j in before[i]) for i in range(n)])
    assert final_loads(durations, placements).tolist() == final
    assert running_loads(durations, placements, np.array(order, dtype=np.int64)).tolist() == running
    assert final_loads(durations, placements[0]).tolist() == final[0]
    assert running_loads(durations, placements[1], np.array(order, dtype=np.int64)).tolist() == running[1]


def _makespan(instance: DagInstance, gpu: np.ndarray) -> int:
    """Return the makespan of a placement in rank order with insertion."""
    placement = place_by_list(dag_arrays(instance), pinned=gpu)
    assert placement.gpu.tolist() == gpu.tolist()
    schedule = DagSchedule(gpu=placement.gpu, start=placement.start)
    assert verify_dag_schedule(instance, schedule) == []
    return objective_value(instance, schedule, Objective.MAKESPAN)
