"""Tests of the linear program of placement, memory, work and all paths."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from formulations.dag.bounds import placed_paths as module
from formulations.dag.bounds.paths import join_aware_path
from formulations.dag.bounds.placed_paths import placed_paths
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from instances.generators.dag.generate import generate
from tests.brute_force import optimum
from tests.strategies import dag_instances
from tests.test_tight_bounds import tight_instance

MAKESPAN = Objective.MAKESPAN


def test_memory_lengthens_a_path() -> None:
    """Tests a chain of four tasks of which the fast GPU holds two: two at 1 tick and two at 10."""
    instance = DagInstance.from_lists(
        [[1, 10]] * 4, edges=[(i, i + 1, 0) for i in range(3)], task_memory=[1] * 4, gpu_memory=[2, 4]
    )
    assert join_aware_path(instance, MAKESPAN) == 4
    assert placed_paths(instance, MAKESPAN) == optimum(instance, MAKESPAN) == 22
    assert placed_paths(instance, Objective.WEIGHTED_COMPLETION) == 0


def test_transfers_and_loads_count() -> None:
    """Tests that pinned ends pay their transfer, and that two equal GPUs share the work of a class."""
    apart = DagInstance.from_lists([[1, None], [None, 1]], edges=[(0, 1, 8)], latency=[[0, 3], [3, 0]])
    assert placed_paths(apart, MAKESPAN) == optimum(apart, MAKESPAN) == join_aware_path(apart, MAKESPAN)
    wide = DagInstance.from_lists([[2, 2]] * 4, release=[5], job_of_task=[0] * 4)
    assert placed_paths(wide, MAKESPAN) == optimum(wide, MAKESPAN) == 9


@given(instance=dag_instances(max_tasks=5))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_bound_is_never_above_the_optimum(instance: DagInstance) -> None:
    """Tests against brute force, and that the paths are never above it."""
    best = optimum(instance, MAKESPAN)
    value = placed_paths(instance, MAKESPAN)
    assert best is None or join_aware_path(instance, MAKESPAN) <= value <= best


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1_000, 100))
def test_bound_is_never_above_the_optimum_where_memory_is_tight(first: int) -> None:
    """Tests 1,000 instances with tight memory, forbidden GPUs and equal GPUs."""
    for number in range(first, first + 100):
        instance = tight_instance(number)
        best = optimum(instance, MAKESPAN)
        assert best is not None
        assert placed_paths(instance, MAKESPAN) <= best, number


def test_limits_leave_the_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests no time, too many flows, and no tasks."""
    instance = generate("layered", tasks=20, seed=3)
    paths = join_aware_path(instance, MAKESPAN)
    assert placed_paths(instance, MAKESPAN, seconds_left=lambda: 0.0) == paths
    assert placed_paths(DagInstance.from_lists([], num_gpus=2), MAKESPAN) == 0
    monkeypatch.setattr(module, "MOST_FLOWS", 0)
    assert placed_paths(instance, MAKESPAN) == paths
