"""Tests of the bound by tasks that must share GPUs: by hand, against brute force, against schedules, and its limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from formulations.dag.ancestor_balls import far_heads_and_tails
from formulations.dag.bounds import shared_gpus as module
from formulations.dag.bounds.paths import ancestor_aware_path
from formulations.dag.bounds.shared_gpus import SharedGpus, shared_gpus_bound
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from tests.brute_force import assert_below_optimum, optimum
from tests.drawn_schedules import drawn_schedule
from tests.strategies import dag_instances
from tests.test_tight_bounds import tight_instance

MAKESPAN = Objective.MAKESPAN


def three_pairs(memory: int = 0) -> DagInstance:
    """Return three sums of two products each on two equal GPUs; data take 100 ticks to the other GPU."""
    edges = [(2 * pair + half, 6 + pair, 100) for pair in range(3) for half in range(2)]
    return DagInstance.from_lists([[5, 5]] * 6 + [[1, 1]] * 3, edges, task_memory=[1] * 9, gpu_memory=[memory or 9] * 2)


def test_three_groups_have_two_gpus() -> None:
    """Tests that two of three groups of 11 ticks come one after the other, though the work fills 17 ticks."""
    instance = three_pairs()
    assert ancestor_aware_path(instance, MAKESPAN) == 11
    shared = SharedGpus(instance, far_heads_and_tails(instance))
    assert shared.refutes(21)
    assert not shared.refutes(22)
    assert shared_gpus_bound(instance, MAKESPAN) == 22 == optimum(instance)


def test_memory_keeps_groups_apart() -> None:
    """Tests that GPUs of five bytes hold one group of three tasks each, so that a sum waits for data."""
    instance = three_pairs(memory=5)
    assert shared_gpus_bound(instance, MAKESPAN) == 106 == optimum(instance)


def test_both_orders_of_two_tasks_are_impossible(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests an instance whose optimum follows only from both orders of tasks that share a GPU."""
    instance = DagInstance.from_lists(
        [[5] * 3, [5] * 3, [6] * 3, [3] * 3, [1] * 3, [4] * 3],
        [(0, 1, 11), (0, 2, 26), (0, 3, 26), (1, 3, 29), (1, 4, 0), (1, 5, 12), (2, 5, 12)],
        task_memory=[0, 0, 2, 1, 2, 1],
        gpu_memory=[3] * 3,
    )
    assert shared_gpus_bound(instance, MAKESPAN) == 32 == optimum(instance)
    monkeypatch.setattr(module, "DEPTH", 0)
    assert shared_gpus_bound(instance, MAKESPAN) == 27


def test_neither_cases_nor_seconds_leave_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the limits: without seconds there are no cases, and without room for delays no groups."""
    instance = three_pairs()
    assert shared_gpus_bound(instance, MAKESPAN, seconds_left=lambda: 0.0) <= 22
    monkeypatch.setattr(module, "MOST_DELAYS", 6 * 4 - 1)
    assert shared_gpus_bound(instance, MAKESPAN) == 11
    assert shared_gpus_bound(DagInstance.from_lists([]), MAKESPAN) == 0


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(instance=dag_instances(max_tasks=6))
def test_it_is_between_the_ancestor_aware_path_and_the_optimum(instance: DagInstance) -> None:
    """Tests both objectives against brute force."""
    assert_below_optimum(instance, ancestor_aware_path, shared_gpus_bound)


@pytest.mark.parametrize("numbers", [range(60), pytest.param(range(60, 3_000), marks=pytest.mark.slow)])
def test_it_holds_with_tight_memory_and_long_transfers(numbers: range) -> None:
    """Tests tiny instances against brute force; on some of them groups prove more than paths."""
    raised = 0
    for number in numbers:
        for instance in (tight_instance(number), _with_long_transfers(number)):
            best, bound = optimum(instance, MAKESPAN), shared_gpus_bound(instance, MAKESPAN)
            assert best is None or bound <= best
            raised += bound > ancestor_aware_path(instance, MAKESPAN)
    assert raised > len(numbers) // 10


def _with_long_transfers(number: int) -> DagInstance:
    """Return five or six tasks on two or three equal GPUs, with transfers of up to 30 ticks."""
    rng = np.random.default_rng([23, number])
    n, m = int(rng.integers(5, 7)), int(rng.integers(2, 4))
    edges = [(a, b, int(rng.integers(0, 30))) for a in range(n) for b in range(a + 1, n) if rng.random() < 0.35]
    memory = rng.integers(0, 3, size=n).tolist()
    return DagInstance.from_lists(
        [[ticks] * m for ticks in rng.integers(1, 7, size=n).tolist()],
        edges,
        task_memory=memory,
        gpu_memory=[max(*memory, sum(memory) * int(rng.integers(2, 4)) // 3)] * m,
    )


@pytest.mark.parametrize("numbers", [range(10), pytest.param(range(10, 400), marks=pytest.mark.slow)])
def test_no_makespan_of_a_schedule_is_refuted(numbers: range) -> None:
    """Tests drawn schedules of up to 40 tasks under tight memory."""
    for number in numbers:
        instance, schedule = drawn_schedule(number)
        if schedule is not None:
            shared = SharedGpus(instance, far_heads_and_tails(instance))
            assert not shared.refutes(int(objective_value(instance, schedule, MAKESPAN)))
