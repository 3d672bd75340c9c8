"""Tests of the exact repair."""

from __future__ import annotations

import pytest

from formulations.dag.left_shift import left_shift
from heuristics.dag.heft import heft
from instances import DagInstance, Objective, objective_value, verify_dag_schedule
from instances.generators import generate
from solvers.lns.window_repair import Repair, repair_window
from tests.brute_force import optimum
from tests.runs import run_with


@pytest.mark.parametrize("objective", list(Objective))
def test_repaired_until_nothing_is_left(objective: Objective) -> None:
    """Tests that repairing the whole of small instances ends at the optimum, and says that there is nothing more."""
    for seed in range(5):
        instance = generate("multi-tenant", tasks=8, seed=seed)
        schedule = heft(instance)
        assert schedule is not None
        for _ in range(10):
            value = objective_value(instance, schedule, objective)
            ended, better, _ = repair_window(
                instance, objective, schedule, value, 0, instance.num_tasks, None, run_with(), 1
            )
            if better is None:
                break
            assert ended is Repair.BETTER
            assert verify_dag_schedule(instance, better) == []
            assert objective_value(instance, better, objective) < value
            schedule = better
        assert ended is Repair.NONE
        if instance.num_tasks <= 8:
            assert value == optimum(instance, objective)


def test_window_betters_a_large_schedule() -> None:
    """Tests that windows of 30 tasks take ticks off HEFT's schedule of 100 tasks."""
    instance = generate("layered", tasks=100, seed=1)
    schedule = heft(instance)
    assert schedule is not None
    schedule = left_shift(instance, schedule.gpu, schedule.start)
    value = begun = objective_value(instance, schedule, Objective.MAKESPAN)
    for first in range(0, 71, 10):
        ended, better, _ = repair_window(
            instance, Objective.MAKESPAN, schedule, value, first, first + 30, 3, run_with(), 1
        )
        assert (ended is Repair.BETTER) == (better is not None)
        if better is not None:
            assert verify_dag_schedule(instance, better) == []
            schedule, value = better, objective_value(instance, better, Objective.MAKESPAN)
    assert value < begun


def test_bound_leaves_nothing() -> None:
    """Tests that there is nothing below a proven bound, without asking CP-SAT."""
    instance = DagInstance.from_lists([[3, 9], [3, 9]])
    schedule = heft(instance)
    assert schedule is not None
    answer = repair_window(instance, Objective.MAKESPAN, schedule, 6, 0, 2, None, run_with(lower_bound=6), 1)
    assert answer == (Repair.NONE, None, 0.0)


def test_exception_in_presolve_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the exception that OR-Tools 9.15 was seen to throw from presolve ends one repair, not the run."""

    def fail(*arguments: object, **options: object) -> None:
        raise IndexError("absl::container_internal::raw_hash_map<>::at")

    monkeypatch.setattr("solvers.cp_sat.solve_in_thread", fail)
    instance = DagInstance.from_lists([[3, 9], [3, 4]])
    schedule = heft(instance)
    assert schedule is not None
    answer = repair_window(instance, Objective.MAKESPAN, schedule, 99, 0, 2, None, run_with(), 1)
    assert answer == (Repair.GAVE_UP, None, 0.0)
