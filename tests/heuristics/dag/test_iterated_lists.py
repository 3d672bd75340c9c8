"""Tests of list scheduling that learns from its own last schedule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heuristics.dag.heft import heft
from heuristics.dag.iterated_lists import iterated_lists
from heuristics.dag.random_placement import random_placement
from instances import DagInstance, DagSchedule, Objective, objective_value, verify_dag_schedule
from instances.cluster import parse_cluster
from instances.dag_from_graph import CostModel
from instances.generators import generate
from tests.brute_force import optimum
from tests.strategies import dag_instances


def no_waste(instance: DagInstance) -> np.ndarray:
    """Return zeros."""
    return np.zeros((instance.num_tasks, instance.num_gpus))


@given(
    instance=dag_instances(max_tasks=7),
    objective=st.sampled_from(list(Objective)),
    seed=st.integers(0, 99),
    company=st.sampled_from([0.0, 0.5, 1.0]),
    price=st.sampled_from([0.0, 2.0]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_schedules_are_right(
    instance: DagInstance, objective: Objective, seed: int, company: float, price: float
) -> None:
    """Tests that what comes out verifies and is no better than the optimum, and more passes never worse."""
    rng = np.random.default_rng(seed)
    start, waste = random_placement(instance, rng), rng.uniform(0.0, 5.0, (instance.num_tasks, instance.num_gpus))
    if start is None:
        return
    values = []
    for passes in (1, 3, 6):
        schedule = iterated_lists(instance, objective, start, waste, passes=passes, company=company, price=price)
        if schedule is None:
            assert (instance.gpu_memory >= 0).any()
            values.append(np.inf)
            continue
        assert verify_dag_schedule(instance, schedule) == []
        values.append(objective_value(instance, schedule, objective))
        assert values[-1] >= optimum(instance, objective)
    assert values == sorted(values, reverse=True)


def test_one_pass_by_hand() -> None:
    """Tests one pass: a task goes where its successor was, for the transfer costs more than the slower GPU."""
    instance = DagInstance.from_lists([[2, 5], [9, 1]], [(0, 1, 10)])
    apart = DagSchedule(gpu=[0, 1], start=[0, 12])
    schedule = iterated_lists(instance, Objective.MAKESPAN, apart, no_waste(instance), passes=1)
    assert schedule is not None
    assert (schedule.gpu.tolist(), schedule.start.tolist()) == ([1, 1], [0, 5])  # 5 + 0 + 1 < 2 + 10 + 1
    waste = np.array([[0.0, 8.0], [0.0, 0.0]])
    dear = iterated_lists(instance, Objective.MAKESPAN, apart, waste, passes=1, price=1.0)
    assert dear is not None
    assert (dear.gpu.tolist(), dear.start.tolist()) == ([0, 0], [0, 2])  # 5 + 0 + 1 + 8 > 2 + 10 + 1; then 11 < 13


def test_company() -> None:
    """Tests that with company a successor is expected to come along, without it to stay where it was."""
    instance = DagInstance.from_lists([[2, 5], [4, 1]], [(0, 1, 10)])
    apart = DagSchedule(gpu=[0, 1], start=[0, 12])
    gpus = []
    for company in (0.0, 1.0):
        schedule = iterated_lists(instance, Objective.MAKESPAN, apart, no_waste(instance), passes=1, company=company)
        assert schedule is not None
        gpus.append(schedule.gpu.tolist())
    assert gpus == [[1, 1], [0, 0]]  # 5 + 1 < 2 + 10 + 1, but 2 + 4 = 5 + 1 and GPU 0 is first


@pytest.mark.parametrize("family", ["layered", "series-parallel", "in-tree"])
def test_far_below_heft_where_transfers_are_long(family: str) -> None:
    """Tests that ten passes from HEFT's schedule take 30 % off it at a communication-to-computation ratio of 3."""
    cluster, cost = parse_cluster("mixed-16"), CostModel(ccr=3.0, memory_tightness=0.0)
    instance = generate(family, tasks=200, seed=1, cluster=cluster, cost=cost)
    start = heft(instance)
    assert start is not None
    better = iterated_lists(instance, Objective.MAKESPAN, start, no_waste(instance), passes=10, company=0.5)
    assert better is not None
    values = [objective_value(instance, one, Objective.MAKESPAN) for one in (better, start)]
    assert values[0] < 0.7 * values[1]
