"""Tests of the model of a fixed makespan: no solution below the optimum, and schedules from it on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from ortools.sat.python import cp_model

from formulations.dag.cp_sat.constraints import GaveUpError
from formulations.dag.cp_sat.fixed_makespan import FixedMakespanModel
from formulations.dag.probing.windows import windows
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from tests.brute_force import optimum
from tests.strategies import dag_instances
from tests.tiny_instances import tiny_instance

if TYPE_CHECKING:
    from instances.dag.schedule import DagSchedule


def solution(instance: DagInstance, makespan: int, *, is_exclusive: bool) -> DagSchedule | None:
    """Return the schedule of a solution, None if the makespan is refuted."""
    within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=makespan, probe=True)
    if within.is_empty:
        return None
    model = FixedMakespanModel(instance, within, is_exclusive=is_exclusive, should_give_up=lambda: False)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(model.proto_model)
    assert status in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
    return None if status == cp_model.INFEASIBLE else model.schedule(solver.value)


def check_around_optimum(instance: DagInstance) -> None:
    """Check that the optimum is the least makespan with a solution, and that overlaps only add solutions."""
    best = optimum(instance)
    if best is None:
        assert solution(instance, 1_000, is_exclusive=True) is None
        return
    schedule, relaxed = (solution(instance, best, is_exclusive=is_exclusive) for is_exclusive in (True, False))
    assert schedule is not None
    assert relaxed is not None
    assert not verify_dag_schedule(instance, relaxed)  # its tasks were put in order
    assert not verify_dag_schedule(instance, schedule)
    assert objective_value(instance, schedule, Objective.MAKESPAN) == best
    assert solution(instance, best - 1, is_exclusive=True) is None


@given(instance=dag_instances(max_tasks=6))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_optimum_is_the_least_makespan_with_a_solution(instance: DagInstance) -> None:
    """Tests instances with zero durations, forbidden pairs, odd links, releases and memory limits."""
    check_around_optimum(instance)


@pytest.mark.parametrize("number", range(24))
def test_tight_memory_and_dear_transfers(number: int) -> None:
    """Tests the same on generated graphs whose memory is 70 to 95 % full, with transfers of 1 to 10 mean durations."""
    check_around_optimum(tiny_instance(number, is_tight=True))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 2_000, 100))
def test_tight_memory_on_2000_instances(first: int) -> None:
    """Tests the same on many more."""
    for number in range(first, first + 100):
        check_around_optimum(tiny_instance(number, is_tight=True))


def test_memory_forces_a_transfer() -> None:
    """Tests by hand a chain that fits no GPU: 2 + 2 ticks and 7 for a transfer are needed, and nothing else says so."""
    instance = DagInstance.from_lists(
        [[2, 2], [2, 2]], [(0, 1, 7)], latency=[[0, 0], [0, 0]], task_memory=[3, 3], gpu_memory=[5, 5]
    )
    assert solution(instance, 10, is_exclusive=False) is None
    assert solution(instance, 11, is_exclusive=False) is not None


def test_gives_up() -> None:
    """Tests that building ends when it should."""
    instance = tiny_instance(3, is_tight=True)
    within = windows(instance, Objective.MAKESPAN, lower_bound=0, objective_at_most=10_000)
    with pytest.raises(GaveUpError):
        FixedMakespanModel(instance, within, is_exclusive=True, should_give_up=lambda: True)
