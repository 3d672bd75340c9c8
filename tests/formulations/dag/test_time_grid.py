"""Tests of start times on a grid of buckets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.dag.heads_and_tails import heads_and_tails
from formulations.dag.time_grid import TimeGrid, time_grid
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from tests.brute_force import NONE, _search, optimum
from tests.strategies import dag_instances


def grid_of(instance: DagInstance, width: int) -> TimeGrid:
    """Return the grid of an instance from its heads on, with room for everything."""
    around = heads_and_tails(instance)
    latest = np.full(instance.durations.shape, 1_000)
    return time_grid(instance, earliest=around.heads, latest=latest, allowed=around.allowed, width=width)


def coarse_optimum(instance: DagInstance, grid: TimeGrid, objective: Objective) -> int | None:
    """Return the optimum of the coarse problem by enumeration, in buckets."""
    n, m = instance.num_tasks, instance.num_gpus
    delay, is_edge = np.zeros((n, n, m, m), dtype=np.int64), np.zeros((n, n), dtype=np.bool_)
    for edge, (tail, head) in enumerate(instance.edges.tolist()):
        is_edge[tail, head] = True
        delay[tail, head] = grid.lag[edge] - grid.occupancy[tail][:, None]
    memory = np.where(instance.gpu_memory < 0, NONE, instance.gpu_memory)
    durations = np.where(grid.possible, grid.occupancy, -1)
    jobs, release = np.array(instance.job_of_task), instance.release // grid.width
    weighted = objective is Objective.WEIGHTED_COMPLETION
    best = _search(
        durations,
        delay,
        is_edge,
        np.array(instance.task_memory),
        memory,
        jobs,
        release,
        np.array(instance.weight),
        weighted,
    )
    return None if best == NONE else int(best)


def test_rounding_by_hand() -> None:
    """Tests floors of windows and durations by 4, and that 5 ticks of work and 3 of transfer are 2 buckets together."""
    instance = DagInstance.from_lists([[5, 7], [3, None]], [(0, 1, 3)], release=[6])
    earliest, latest = np.array([[6, 6], [11, 0]]), np.array([[9, 5], [20, 0]])
    grid = time_grid(instance, earliest=earliest, latest=latest, allowed=instance.allowed, width=4)
    assert grid.first.tolist() == [[1, 0], [2, 0]]
    assert grid.last.tolist() == [[2, -1], [5, -1]]  # no start between 6 and 5; not allowed
    assert grid.possible.tolist() == [[True, False], [True, False]]
    assert grid.occupancy.tolist() == [[1, 0], [0, 0]]
    assert grid.lag.tolist() == [[[1, 2], [2, 1]]]  # 5, 5 + 3; 7 + 3, 7
    assert grid.num_starts == 2 + 4


def test_width_one_loses_nothing(example_e: DagInstance) -> None:
    """Tests that with buckets of one tick the coarse problem is the problem."""
    grid = grid_of(example_e, 1)
    assert np.array_equal(grid.occupancy, np.maximum(example_e.durations, 0))
    assert coarse_optimum(example_e, grid, Objective.MAKESPAN) == 15


@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
@pytest.mark.parametrize("width", [1, 2, 3, 5])
@given(instance=dag_instances(max_tasks=5))
@settings(max_examples=25, deadline=None)
def test_coarse_optimum_is_a_bound(objective: Objective, width: int, instance: DagInstance) -> None:
    """Tests that the width times the optimum of the coarse problem is never above the optimum, and the same for 1."""
    best = optimum(instance, objective)
    coarse = coarse_optimum(instance, grid_of(instance, width), objective)
    if best is not None:
        assert coarse is not None
        assert width * coarse <= best
        assert width > 1 or coarse == best


@given(start=st.integers(0, 50), more=st.integers(0, 50), later=st.integers(0, 50), width=st.integers(1, 9))
def test_floors_add_up_the_safe_way(start: int, more: int, later: int, width: int) -> None:
    """Tests the inequality that everything on a grid rests on."""
    assert (start + more + later) // width >= start // width + more // width
