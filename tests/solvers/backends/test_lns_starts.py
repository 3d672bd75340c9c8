"""Tests of schedules where list schedulers run into memory limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.dag.bounds.assignment_lp import AssignmentLp
from formulations.dag.bounds.placed_paths import placed_paths, solved_placed_paths
from formulations.time_left import without_limit
from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import place_by_list
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from instances.generators.dag.planted import planted_optimum
from solvers.backends import lns_starts as module
from solvers.backends.lns_starts import diagram_start, is_guided, packed_schedule, placed_start, waste, waste_of_shares
from solvers.problem import DAG
from solvers.solve import solve
from tests.runs import run_with
from tests.strategies import dag_instances


def test_packing_where_lists_fail() -> None:
    """Tests that the one way to fill both GPUs is found by CP-SAT, by repaired list schedulers and by `lns`."""
    instance = DagInstance.from_lists(
        [[2, 5]] * 6, [(task, task + 1, 0) for task in range(5)], task_memory=[2, 2, 2, 2, 3, 3], gpu_memory=[7, 7]
    )
    assert all(place_by_list(dag_arrays(instance), rank).overflow > 0 for rank in (None, np.zeros(6)))
    assert all(solve(instance, name, bounds=[]).schedule is not None for name in DAG.warm_starts)
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


def test_shares_guide_the_search_where_memory_binds() -> None:
    """Tests prices by shares, a start that keeps to them, and `lns` with them, which repeats and is no worse."""
    instance = generate("nasnet", tasks=40, seed=1, cost=CostModel(memory_tightness=0.8, ccr=1.0))
    assert is_guided(instance, Objective.MAKESPAN)
    assert not is_guided(instance, Objective.WEIGHTED_COMPLETION)
    found = solved_placed_paths(instance, Objective.MAKESPAN)
    assert found.bound == placed_paths(instance, Objective.MAKESPAN)
    assert found.share is not None
    assert found.share[~instance.allowed].max(initial=0.0) == 0.0
    assert found.share.sum(axis=1) == pytest.approx(1.0, abs=1e-3)  # no GPUs of one kind
    prices = waste_of_shares(instance, found.share)
    assert (np.isfinite(prices) == instance.allowed).all()
    gpu = found.share.argmax(axis=1)
    start = placed_start(instance, Objective.MAKESPAN, 1000.0 * waste_of_shares(instance, np.eye(4)[gpu]))
    assert start is not None
    assert verify_dag_schedule(instance, start) == []
    assert np.mean(start.gpu == gpu) > 0.6
    first, second = (solve(instance, "lns", threads=1, bounds=[], iterations=4) for _ in range(2))
    assert first.schedule is not None
    assert second.schedule is not None
    assert first.schedule.start.tolist() == second.schedule.start.tolist()
    assert first.objective <= objective_value(instance, start, Objective.MAKESPAN)


def test_little_waste() -> None:
    """Tests that of many placements one with little waste is taken."""
    instance = DagInstance.from_lists([[1, 1]] * 4, task_memory=[1] * 4, gpu_memory=[2, 2])
    waste = np.array([[0.0, 9.0], [9.0, 0.0], [0.0, 9.0], [9.0, 0.0]])
    schedule = packed_schedule(instance, waste, run_with())
    assert schedule is not None
    assert schedule.gpu.tolist() == [0, 1, 0, 1]


@given(instance=dag_instances(max_tasks=8, memory=False), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_waste_raises_the_bound_of_the_area(instance: DagInstance, seed: int) -> None:
    """Tests that no placement has a smaller largest load than the area bound plus its waste over the number of GPUs."""
    wasted = waste(instance)
    assert wasted.shape == (instance.num_tasks, instance.num_gpus)
    assert (np.isfinite(wasted) == instance.allowed).all()
    assert (wasted >= 0.0).all()
    assert wasted.min(axis=1) == pytest.approx(np.zeros(instance.num_tasks), abs=1e-6)
    rng = np.random.default_rng(seed)
    gpu = np.array([rng.choice(np.flatnonzero(row)) for row in instance.allowed])
    tasks = np.arange(instance.num_tasks)
    largest = np.bincount(gpu, weights=instance.durations[tasks, gpu], minlength=instance.num_gpus).max()
    lp = AssignmentLp(instance, tasks, instance.allowed)
    lp.add_area_rows()
    least = lp.solve()[2]
    assert largest >= least + wasted[tasks, gpu].sum() / instance.num_gpus - 1e-5 * max(largest, 1.0)


def test_planted_kinds_waste_nothing() -> None:
    """Tests that the prices show on which kind of GPU every task of a planted optimum belongs."""
    planted = planted_optimum(tasks=200, num_gpus=8, seed=4)
    wasted = waste(planted.instance)[np.arange(200), planted.schedule.gpu]
    assert wasted.max() < 0.01 * planted.optimum


def test_large_instances_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that prices from a quarter of the tasks say much the same as those from all."""
    planted = planted_optimum(tasks=800, num_gpus=4, seed=4)
    full = waste(planted.instance)
    monkeypatch.setattr(module, "MOST_PAIRS", 800)
    sampled = waste(planted.instance)
    assert (sampled.argmin(axis=1) == full.argmin(axis=1)).mean() > 0.9
    assert np.corrcoef(sampled.ravel(), full.ravel())[0, 1] > 0.9


def test_no_tasks() -> None:
    """Tests that there is nothing to waste without tasks."""
    assert waste(DagInstance.from_lists([], num_gpus=2)).shape == (0, 2)


def test_a_relaxed_diagram_gives_a_bound_and_a_start() -> None:
    """Tests a chain of which each GPU holds half: what the diagram places is optimal, and nothing shorter is left."""
    instance = DagInstance.from_lists(
        [[2, 3]] * 4, [(0, 1, 7), (1, 2, 7), (2, 3, 7)], task_memory=[1] * 4, gpu_memory=[2, 2]
    )
    bound, schedule = diagram_start(instance, None, without_limit)
    assert schedule is not None
    assert bound == 17 == objective_value(instance, schedule, Objective.MAKESPAN)
    assert diagram_start(instance, schedule, without_limit) == (17, None)
