"""Tests of schedules where list schedulers run into memory limits."""

from __future__ import annotations

import numpy as np

from instances import DagInstance, verify_dag_schedule
from solvers import solve
from solvers.lns.packing import packed_schedule
from solvers.methods import WARM_START_METHODS
from tests.runs import run_with


def test_packing_where_lists_fail() -> None:
    """Tests that the one way to fill both GPUs is found where no list scheduler finds it, and by `lns` too."""
    instance = DagInstance.from_lists(
        [[2, 5]] * 6, [(task, task + 1, 0) for task in range(5)], task_memory=[2, 2, 2, 2, 3, 3], gpu_memory=[7, 7]
    )
    assert all(solve(instance, name, bounds=[]).schedule is None for name in WARM_START_METHODS)
    schedule = packed_schedule(instance, np.zeros((6, 2)), run_with())
    assert schedule is not None
    assert verify_dag_schedule(instance, schedule) == []
    exact, found = solve(instance, "cp-sat", threads=1), solve(instance, "lns", threads=1)
    assert found.objective == exact.objective


def test_no_packing() -> None:
    """Tests that without any placement there is no schedule, and `lns` says no more than that."""
    instance = DagInstance.from_lists([[1, 1]] * 3, task_memory=[4] * 3, gpu_memory=[6, 6])
    assert packed_schedule(instance, np.zeros((3, 2)), run_with()) is None
    result = solve(instance, "lns", threads=1)
    assert result.schedule is None
    assert not result.is_infeasible


def test_little_waste() -> None:
    """Tests that of many placements one with little waste is taken."""
    instance = DagInstance.from_lists([[1, 1]] * 4, task_memory=[1] * 4, gpu_memory=[2, 2])
    waste = np.array([[0.0, 9.0], [9.0, 0.0], [0.0, 9.0], [9.0, 0.0]])
    schedule = packed_schedule(instance, waste, run_with())
    assert schedule is not None
    assert schedule.gpu.tolist() == [0, 1, 0, 1]
