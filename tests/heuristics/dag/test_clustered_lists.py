"""Tests of list scheduling of clusters."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heuristics.dag.clustered_lists import clustered_lists
from heuristics.dag.heft import heft
from instances import DagInstance, Objective, objective_value, verify_dag_schedule
from instances.generators import planted_optimum
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
