"""Tests of random keys with buffers and groups: every point keeps the limits, and none deadlocks where parts fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heuristics.dag.buffer_lists import buffer_list
from heuristics.dag.random_keys import RandomKeys
from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from solvers.methods import METHODS
from solvers.solve import solve
from tests.brute_force_buffers import buffered_optimum
from tests.buffered_instances import random_buffered, small_pipeline
from tests.strategies import buffered_dags

SEARCHES = [name for name, method in METHODS.items() if method.kind == "search" and method.knows_buffers]


def test_searches_that_know_buffers() -> None:
    """Tests which searches have this decoder."""
    assert SEARCHES == ["random-search", "woa", "ga", "pso", "sa"]


@given(instance=buffered_dags(max_tasks=7), seed=st.integers(0, 2**32), decoding=st.sampled_from(("ranked", "direct")))
def test_every_point_keeps_the_limits(instance: DagInstance, seed: int, decoding: str) -> None:
    """Tests that a point without overflow is a schedule that verifies, of the objective that the kernel says."""
    for objective in Objective:
        keys = RandomKeys(instance, objective, decoding)
        point = np.random.default_rng(seed).random(keys.num_keys)
        overflow, value = keys.evaluate(point)
        schedule = keys.schedule(point)
        assert (schedule is None) == (overflow > 0)
        if schedule is not None:
            assert verify_dag_schedule(instance, schedule) == []
            found = objective_value(instance, schedule, objective)
            assert found == value or (objective is Objective.STAGE_SPAN and found < value)


def test_points_do_not_depend_on_those_before_them() -> None:
    """Tests that many points at once have the fitness that each has alone, where parts do not fit too."""
    overflows = 0
    for seed in range(20):
        instance = random_buffered(seed, max_tasks=8)
        keys = RandomKeys(instance, Objective.MAKESPAN, "direct")
        points = np.random.default_rng(seed).random((20, keys.num_keys))
        fitness = keys.evaluate_many(points)
        assert [tuple(row) for row in fitness.tolist()] == [keys.evaluate(point) for point in points]
        overflows += (fitness[:, 0] > 0).sum()
    assert overflows >= 50


@pytest.mark.parametrize("decoding", ["ranked", "direct"])
def test_first_point_is_the_best_list(decoding: str) -> None:
    """Tests that the first point decodes to the GPUs of the best list, and to no larger objective."""
    for seed in range(6):
        instance = random_buffered(seed) if seed % 2 else small_pipeline(seed)
        for objective in Objective:
            best, keys = buffer_list(instance, objective), RandomKeys(instance, objective, decoding)
            if best is not None:
                schedule = keys.schedule(keys.heft_keys())
                assert schedule.gpu.tolist() == best.gpu.tolist()
                assert objective_value(instance, schedule, objective) <= objective_value(instance, best, objective)


def test_stuck_orders_are_made_part_by_part() -> None:
    """Tests keys that would begin two parts of which memory holds one: the part with the highest key goes first."""
    instance = DagInstance.from_lists(
        [[2], [1], [1]] * 2,
        [(0, 1, 0), (1, 2, 0), (3, 4, 0), (4, 5, 0)],
        buffers=[(0, 2, [2]), (1, 2, [2]), (3, 2, [5]), (4, 2, [5])],
        gpu_memory=[4],
    )
    keys = RandomKeys(instance, Objective.MAKESPAN, "eft")
    point = np.array([0.8, 0.1, 0.2, 0.9, 0.1, 0.2])
    assert keys.evaluate(point) == (0, 8)
    assert keys.schedule(point).start.tolist() == [4, 6, 7, 0, 2, 3]


def test_what_cannot_fit_overflows() -> None:
    """Tests that keys without any schedule have an overflow, and that a search returns none."""
    instance = DagInstance.from_lists(
        [[1, 1]] * 3, [(0, 2, 0), (1, 2, 0)], buffers=[(0, 2, [2]), (1, 2, [2])], gpu_memory=[3, 3], groups=[0, 0, None]
    )
    assert RandomKeys(instance, Objective.MAKESPAN).evaluate(np.full(6, 0.5))[0] > 0
    assert solve(instance, "woa", stop=MaxEvaluations(20)).schedule is None


@pytest.mark.parametrize("method", SEARCHES)
def test_searches_find_optima(method: str) -> None:
    """Tests that the searches reach the optimum of tiny instances, and are never below it."""
    found = 0
    for seed in range(3):
        instance = random_buffered(seed, max_tasks=5) if seed % 2 else small_pipeline(seed, tasks=9)
        for objective in Objective:
            best = buffered_optimum(instance, objective)
            result = solve(instance, method, objective=objective, stop=MaxEvaluations(60), bounds=[], seed=seed)
            assert best is not None
            assert result.objective >= best
            found += result.objective == best
    assert found >= 7


def test_load_decoding_is_refused() -> None:
    """Tests that desired loads, which place task by task, are refused with buffers."""
    with pytest.raises(ValueError, match=r"^decoding: expected one of ranked, direct, eft with buffers or groups, got"):
        solve(random_buffered(1), "woa", decoding="load")
