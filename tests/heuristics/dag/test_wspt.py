"""Tests of Smith's rule for jobs, and of shifts and swaps of single independent tasks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.priorities import weighted_priorities
from heuristics.dag.random_keys import RandomKeys
from heuristics.dag.wspt import wspt
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, is_for_smiths_rule, objective_value
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from tests.brute_force import optimum
from tests.strategies import dag_instances

WEIGHTED = Objective.WEIGHTED_COMPLETION


def single_tasks(instance: DagInstance) -> DagInstance:
    """Return the instance without edges, every task a job of its own with weight by its number, released at 3."""
    n = instance.num_tasks
    return replace(
        instance,
        edges=np.zeros((0, 2), dtype=np.int64),
        edge_bytes=np.zeros(0, dtype=np.int64),
        job_of_task=np.arange(n),
        release=np.full(n, 3),
        weight=np.arange(n) % 4,
        job_names=tuple(f"j{job}" for job in range(n)),
    )


def value_of(instance: DagInstance) -> int | None:
    """Return the weighted completion of a schedule that verifies; None where there is none."""
    schedule = wspt(instance, np.random.default_rng(1))
    if schedule is None:
        return None
    assert verify_dag_schedule(instance, schedule) == []
    return objective_value(instance, schedule, WEIGHTED)


@given(instance=dag_instances(max_tasks=6, max_jobs=1, memory=False).map(single_tasks))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_single_tasks_end_at_the_optimum(instance: DagInstance) -> None:
    """Tests against brute force that kicks and descents reach the optimum of a few tasks."""
    assert is_for_smiths_rule(instance, WEIGHTED)
    assert value_of(instance) == optimum(instance, WEIGHTED)


@given(instance=dag_instances(max_tasks=6, max_jobs=1).map(single_tasks))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_memory_limits_hold_after_shifts_and_swaps(instance: DagInstance) -> None:
    """Tests that a schedule keeps the limits and is never below the optimum."""
    found, best = value_of(instance), optimum(instance, WEIGHTED)
    assert found is None or (best is not None and found >= best)


def test_a_swap_is_needed_where_memory_is_full() -> None:
    """Tests two full GPUs, each with the task that the other one runs faster: no shift fits, a swap does."""
    instance = DagInstance.from_lists(
        [[1, 9], [9, 1]],
        job_of_task=[0, 1],
        release=[0, 0],
        weight=[1, 1],
        task_memory=[4, 4],
        gpu_memory=[4, 4],
    )
    assert value_of(instance) == 2


def test_jobs_go_by_weight_over_work() -> None:
    """Tests ratios 4 / 4, 3 / 2 and 0 / 1 by hand: job 1 first, then both tasks of job 0, then the weightless one."""
    instance = DagInstance.from_lists(
        [[3], [1], [2], [1]], [(0, 1, 0)], job_of_task=[0, 0, 1, 2], release=[0, 0, 0], weight=[4, 3, 0]
    )
    assert np.argsort(-weighted_priorities(dag_arrays(instance))).tolist() == [2, 0, 1, 3]
    schedule = wspt(instance, np.random.default_rng(0))
    assert schedule is not None
    assert schedule.start.tolist() == [2, 5, 0, 6]


@pytest.mark.parametrize(
    "change", [{"release": np.array([0, 1])}, {"job_of_task": np.array([0, 0])}, {"edges": np.array([[0, 1]])}]
)
def test_what_smiths_rule_is_for(change: dict[str, np.ndarray]) -> None:
    """Tests that releases, jobs of two tasks and edges are told apart, and the makespan is."""
    instance = DagInstance.from_lists([[1], [2]], job_of_task=[0, 1], release=[2, 2])
    assert is_for_smiths_rule(instance, WEIGHTED)
    assert not is_for_smiths_rule(instance, Objective.MAKESPAN)
    if "edges" in change:
        change["edge_bytes"] = np.array([0])
    assert not is_for_smiths_rule(replace(instance, **change), WEIGHTED)


@pytest.mark.parametrize("decoding", ["ranked", "direct"])
def test_searches_begin_in_the_order_of_weights(decoding: str) -> None:
    """Tests that the first point of searches on keys is a third of HEFT's value on unrelated machines."""
    instance = generate("unrelated-machines", tasks=30, seed=4)
    keys = RandomKeys(instance, WEIGHTED, decoding)
    heft = RandomKeys(instance, Objective.MAKESPAN, decoding).heft_keys()
    assert keys.evaluate(keys.heft_keys())[1] < keys.evaluate(heft)[1] / 2
