"""Tests of the reinsertion search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heuristics.dag.list_scheduling import heft, random_placement
from heuristics.dag.reinsertion.move import LARGEST_SET
from heuristics.dag.reinsertion.search import PORTION, ReinsertionSearch
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from tests.brute_force import optimum
from tests.strategies import dag_instances


def search_of(instance: DagInstance, objective: Objective, seed: int = 0) -> ReinsertionSearch:
    """Return a search that begins at HEFT's schedule, without prices of waste."""
    schedule = heft(instance)
    assert schedule is not None
    waste = np.zeros((instance.num_tasks, instance.num_gpus))
    return ReinsertionSearch(instance, objective, schedule, waste, np.random.default_rng(seed))


@given(
    instance=dag_instances(max_tasks=7),
    objective=st.sampled_from(FINISH_OBJECTIVES),
    seed=st.integers(0, 99),
    temperature=st.sampled_from([0.0, 0.5, 20.0]),
)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_best_is_right_and_never_worse(
    instance: DagInstance, objective: Objective, seed: int, temperature: float
) -> None:
    """Tests that the best schedule verifies, has the objective that is told, and is between optimum and start."""
    start = random_placement(instance, np.random.default_rng(seed))
    if start is None:
        return
    waste = np.random.default_rng(seed).uniform(0.0, 5.0, (instance.num_tasks, instance.num_gpus))
    search = ReinsertionSearch(instance, objective, start, waste, np.random.default_rng(seed))
    assert search.best_value <= objective_value(instance, start, objective)
    for _ in range(3):
        search.run(60, temperature, 0)
        best = search.best
        assert verify_dag_schedule(instance, best) == []
        assert objective_value(instance, best, objective) == search.best_value
    lowest = optimum(instance, objective)
    assert lowest is not None
    assert search.best_value >= lowest


def test_small_optima_are_found() -> None:
    """Tests that on 20 seeded instances of 7 tasks nearly all optima are found."""
    found = 0
    for seed in range(20):
        instance = generate("layered", tasks=7, seed=seed)
        objective = FINISH_OBJECTIVES[seed % 2]
        search = search_of(instance, objective)
        search.run(2000, 0.02 * search.best_value / max(int(instance.weight.sum()), 1), 0)
        search.run(2000, 0.0, 0)
        found += search.best_value == optimum(instance, objective)
    assert found >= 18


@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
def test_same_seed_same_schedule(objective: Objective) -> None:
    """Tests that portions do not matter, that a seed gives one schedule, and that HEFT is beaten clearly."""
    instance = generate("erdos-renyi", tasks=60, seed=4)
    heft_value = search_of(instance, objective).best_value
    runs = []
    for portions in ([3 * PORTION], [PORTION, 2 * PORTION]):
        search = search_of(instance, objective, seed=5)
        for moves in portions:
            search.run(moves, 10.0, 0)
        runs.append(search.best)
    assert runs[0].gpu.tolist() == runs[1].gpu.tolist()
    assert runs[0].start.tolist() == runs[1].start.tolist()
    assert objective_value(instance, runs[0], objective) < 0.97 * heft_value


def test_good_enough_and_stop() -> None:
    """Tests that a search ends where the objective is good enough or it is told to stop."""
    instance = generate("layered", tasks=40, seed=1)
    search = search_of(instance, Objective.MAKESPAN)
    start = search.best_value
    search.run(10**9, 0.0, start - 1)
    assert search.best_value < start
    asked: list[bool] = []
    search.run(10**9, 0.0, 0, lambda: bool(asked.append(True) or len(asked) == 3))
    assert len(asked) == 3


def test_adopted_schedule_is_where_the_search_goes_on() -> None:
    """Tests that a better schedule becomes the best, and that a worse one does not but is where moves begin."""
    instance = generate("fft", tasks=40, seed=2)
    ahead = search_of(instance, Objective.MAKESPAN)
    ahead.run(2000, 5.0, 0)
    behind = search_of(instance, Objective.MAKESPAN)
    first = behind.best
    behind.adopt(ahead.best)
    assert behind.best_value == ahead.best_value
    behind.adopt(first)
    assert behind.best_value == ahead.best_value
    behind.run(50, 0.0, 0)
    assert verify_dag_schedule(instance, behind.best) == []
    assert behind.best_value <= ahead.best_value


def test_memory_is_kept() -> None:
    """Tests that under tight memory every best schedule keeps the limits although tasks must swap places."""
    instance = DagInstance.from_lists(
        [[1, 9], [1, 9], [9, 1], [9, 1]], task_memory=[3, 3, 3, 3], gpu_memory=[6, 6], name="swap"
    )
    waste = np.zeros((4, 2))
    worst = DagSchedule(gpu=[1, 1, 0, 0], start=[0, 9, 0, 9])
    search = ReinsertionSearch(instance, Objective.MAKESPAN, worst, waste, np.random.default_rng(1))
    search.run(2000, 1.0, 0)
    assert search.best_value == optimum(instance) == 2
    assert verify_dag_schedule(instance, search.best) == []


@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
def test_search_passes_through_plans_beyond_memory(objective: Objective) -> None:
    """Tests that the search leaves a placement that no move within memory can change, and returns none beyond memory.

    Each GPU has room for the large task or for all small ones, and these are more than one move takes out. Every task
    begins where it takes longest.
    """
    small = LARGEST_SET + 1
    instance = DagInstance.from_lists(
        [[1, 100], *([[9, 1]] * small)], task_memory=[small, *[1] * small], gpu_memory=[small, small]
    )
    start = DagSchedule(gpu=[1, *[0] * small], start=[0, *range(0, 9 * small, 9)])
    search = ReinsertionSearch(instance, objective, start, np.zeros((1 + small, 2)), np.random.default_rng(1))
    for _ in range(20):
        search.run(500, 10.0, 0)
        assert verify_dag_schedule(instance, search.best) == []
    assert search.best.gpu.tolist() == [0, *[1] * small]
