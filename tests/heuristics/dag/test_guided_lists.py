"""Tests of list scheduling of clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heuristics.dag.guided_lists import clustered_lists, iterated_lists
from heuristics.dag.list_scheduling import heft, random_placement
from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from instances.generators.dag.planted import planted_optimum
from tests.brute_force import optimum
from tests.strategies import dag_instances

few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def no_waste(instance: DagInstance) -> np.ndarray:
    """Return zeros."""
    return np.zeros((instance.num_tasks, instance.num_gpus))


@given(
    instance=dag_instances(max_tasks=8),
    threshold=st.floats(-1.0, 20.0),
    reserve=st.sampled_from([0.0, 0.5, 1.0]),
    commitment=st.sampled_from([0.0, 1.0]),
    price=st.sampled_from([0.0, 3.0]),
)
@few
def test_schedules_are_right(
    instance: DagInstance, threshold: float, reserve: float, commitment: float, price: float
) -> None:
    """Tests that what comes out verifies, and that only memory limits leave nothing."""
    waste = np.random.default_rng(1).uniform(0.0, 5.0, (instance.num_tasks, instance.num_gpus))
    schedule = clustered_lists(instance, threshold, waste, reserve=reserve, commitment=commitment, price=price)
    if schedule is None:
        assert (instance.gpu_memory >= 0).any()
    else:
        assert verify_dag_schedule(instance, schedule) == []


@given(instance=dag_instances(max_tasks=8))
@few
def test_without_clusters_it_is_heft(instance: DagInstance) -> None:
    """Tests that above all delays, with no shares, the schedule is HEFT's."""
    schedules = [
        clustered_lists(instance, 1e9, no_waste(instance), reserve=0.0, commitment=0.0),
        heft(instance),
    ]
    assert (schedules[0] is None) == (schedules[1] is None)
    if schedules[0] is not None and schedules[1] is not None:
        assert schedules[0].gpu.tolist() == schedules[1].gpu.tolist()
        assert schedules[0].start.tolist() == schedules[1].start.tolist()


def test_clusters_stay_together() -> None:
    """Tests that tasks joined by long transfers share a GPU, and the clusters are spread by what is committed."""
    chains = [(0, 1, 50), (2, 3, 50), (1, 3, 1)]
    instance = DagInstance.from_lists([[4, 5]] * 4, chains)
    schedule = clustered_lists(instance, 10.0, no_waste(instance), reserve=1.0, commitment=1.0)
    assert schedule is not None
    assert schedule.gpu.tolist() == [0, 0, 1, 1]
    together = clustered_lists(instance, 0.0, no_waste(instance))
    assert together is not None
    assert len(set(together.gpu.tolist())) == 1


def test_price_of_waste_chooses_the_gpu() -> None:
    """Tests that the waste of a whole cluster counts when its GPU is chosen."""
    instance = DagInstance.from_lists([[4, 5]] * 2, [(0, 1, 50)])
    waste = np.array([[2.0, 0.0], [2.0, 0.0]])
    for price, gpus in ((0.0, [0, 0]), (1.0, [1, 1])):
        schedule = clustered_lists(instance, 10.0, waste, reserve=0.0, commitment=0.0, price=price)
        assert schedule is not None
        assert schedule.gpu.tolist() == gpus  # 4 against 5; 4 + 4 against 5


def test_halves_heft_on_planted_optima() -> None:
    """Tests that some threshold gives less than half of HEFT's makespan where long transfers tie tasks together."""
    planted = planted_optimum(tasks=500, num_gpus=16, seed=1)
    start = heft(planted.instance)
    assert start is not None
    values = []
    for threshold in (500.0, 700.0, 900.0):
        schedule = clustered_lists(planted.instance, threshold, no_waste(planted.instance))
        assert schedule is not None
        values.append(objective_value(planted.instance, schedule, Objective.MAKESPAN))
    assert min(values) < 0.5 * objective_value(planted.instance, start, Objective.MAKESPAN)


def no_waste_iterated_lists(instance: DagInstance) -> np.ndarray:
    """Return zeros."""
    return np.zeros((instance.num_tasks, instance.num_gpus))


@given(
    instance=dag_instances(max_tasks=7),
    objective=st.sampled_from(FINISH_OBJECTIVES),
    seed=st.integers(0, 99),
    company=st.sampled_from([0.0, 0.5, 1.0]),
    price=st.sampled_from([0.0, 2.0]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_schedules_are_right_iterated_lists(
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
    schedule = iterated_lists(instance, Objective.MAKESPAN, apart, no_waste_iterated_lists(instance), passes=1)
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
        schedule = iterated_lists(
            instance, Objective.MAKESPAN, apart, no_waste_iterated_lists(instance), passes=1, company=company
        )
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
    better = iterated_lists(
        instance, Objective.MAKESPAN, start, no_waste_iterated_lists(instance), passes=10, company=0.5
    )
    assert better is not None
    values = [objective_value(instance, one, Objective.MAKESPAN) for one in (better, start)]
    assert values[0] < 0.7 * values[1]
