"""Tests of left shifts: from a solver's solution to the schedule it means."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.dag.left_shift import left_shift
from heuristics.dag.list_scheduling import random_placement
from instances.dag.contention import Contention
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from tests.strategies import dag_instances


def shifted(instance: DagInstance, gpu: list[int], start: list[float]) -> list[int]:
    """Return the starts after the shift."""
    schedule = left_shift(instance, np.array(gpu), np.array(start))
    assert schedule.gpu.tolist() == gpu
    return schedule.start.tolist()


def test_order_is_kept_and_gaps_close(example_e: DagInstance) -> None:
    """Tests that tasks keep their order and start as early as that allows: by hand on example E."""
    assert shifted(example_e, [0, 1, 0, 1, 0], [3.0, 20.0, 9.0, 40.0, 30.0]) == [0, 8, 4, 12, 7]
    assert shifted(example_e, [0, 0, 0, 1, 0], [0.0, 5.0, 9.0, 40.0, 30.0]) == [0, 4, 7, 15, 10]


def test_tolerances_are_repaired(example_e: DagInstance) -> None:
    """Tests that starts a little too early or late mean the same integers."""
    assert shifted(example_e, [0, 1, 0, 1, 0], [1e-7, 7.9999997, 3.9999999, 12.0000004, 6.9999996]) == [0, 8, 4, 12, 7]


def test_equal_starts_go_by_topological_order() -> None:
    """Tests that where starts agree to 1e-4 predecessors come first, whatever their numbers."""
    instance = DagInstance.from_lists([[2], [0], [3]], [(1, 0, 0), (2, 1, 0)])
    assert shifted(instance, [0, 0, 0], [3.00001, 3.00002, 0.0]) == [3, 3, 0]


def test_duration_zero_waits_for_data_only() -> None:
    """Tests that a task of duration 0 neither waits for its GPU nor occupies it."""
    instance = DagInstance.from_lists([[5], [0], [4]])
    assert shifted(instance, [0, 0, 0], [0.0, 1.0, 5.0]) == [0, 0, 5]


def test_releases_are_kept() -> None:
    """Tests that no task is shifted before the release of its job."""
    instance = DagInstance.from_lists([[2], [2]], job_of_task=[0, 1], release=[3, 9])
    assert shifted(instance, [0, 0], [10.0, 20.0]) == [3, 9]


@given(
    data=st.data(),
    instance=dag_instances(max_tasks=7, memory=False),
    seed=st.integers(0, 99),
    objective=st.sampled_from(FINISH_OBJECTIVES),
)
@settings(max_examples=120, deadline=None)
def test_right_schedules_never_become_worse(
    data: st.DataObject, instance: DagInstance, seed: int, objective: Objective
) -> None:
    """Tests that delaying all tasks of a right schedule from some time on is undone, and no task starts later."""
    schedule = random_placement(instance, np.random.default_rng(seed))
    assert schedule is not None
    moment, delay = data.draw(st.integers(0, 20)), data.draw(st.integers(0, 9))
    late = schedule.start + np.where(schedule.start >= moment, delay, 0)
    again = left_shift(instance, schedule.gpu, late.astype(np.float64))
    assert verify_dag_schedule(instance, again) == []
    assert (again.start <= late).all()
    value = objective_value(instance, again, objective)
    assert value <= objective_value(instance, schedule, objective)


def shifted_with_transfers(
    instance: DagInstance, gpu: list[int], start: list[float], transfer_start: list[float]
) -> tuple[list[int], list[int]]:
    """Return the starts of tasks and transfers after the shift."""
    schedule = left_shift(instance, np.array(gpu), np.array(start), np.array(transfer_start))
    assert schedule.gpu.tolist() == gpu
    assert schedule.transfer_start is not None
    return schedule.start.tolist(), schedule.transfer_start.tolist()


def test_order_of_transfers_is_kept() -> None:
    """Tests by hand that transfers keep their order on an interface, and that those within a server are free."""
    instance = DagInstance.from_lists(
        [[2] * 4] * 4, [(0, 1, 4), (0, 2, 6), (0, 3, 5)], bytes_per_tick=2.0, gpu_servers=["a", "a", "b", "c"]
    )
    late = [0.0, 50.0, 50.0, 50.0]
    assert shifted_with_transfers(instance, [0, 2, 3, 1], late, [9.0, 20.0, -1.0]) == ([0, 4, 7, 5], [2, 4, -1])
    assert shifted_with_transfers(instance, [0, 2, 3, 1], late, [20.0, 9.0, 3.0]) == ([0, 7, 5, 5], [5, 2, -1])
    assert shifted_with_transfers(instance, [0, 2, 3, 1], late, [9.00001, 9.0, 3.0])[1] == [2, 4, -1]  # by edge


def test_transfers_go_before_their_task_even_where_a_solver_has_them_late() -> None:
    """Tests that starts that contradict the precedences are repaired: what is needed goes first."""
    instance = DagInstance.from_lists([[2, 2]] * 2, [(0, 1, 3)], gpu_servers=["a", "b"])
    assert shifted_with_transfers(instance, [0, 1], [4.0, 0.0], [1.0]) == ([0, 5], [2])


@given(
    data=st.data(),
    instance=dag_instances(max_tasks=7, max_gpus=4, memory=False, servers=True),
    seed=st.integers(0, 99),
)
@settings(max_examples=120, deadline=None)
def test_right_schedules_never_become_worse_under_contention(
    data: st.DataObject, instance: DagInstance, seed: int
) -> None:
    """Tests that delaying all that starts from some time on is undone, and nothing starts later than before."""
    schedule = random_placement(instance, np.random.default_rng(seed), contention=Contention.NIC)
    assert schedule is not None
    assert schedule.transfer_start is not None
    moment, delay = data.draw(st.integers(0, 20)), data.draw(st.integers(0, 9))
    late = schedule.start + np.where(schedule.start >= moment, delay, 0)
    late_transfer = schedule.transfer_start + np.where(schedule.transfer_start >= moment, delay, 0)
    again = left_shift(instance, schedule.gpu, late, late_transfer)
    assert verify_dag_schedule(instance, again, Contention.NIC) == []
    assert (again.start <= late).all()
    assert again.transfer_start is not None
    assert (again.transfer_start <= late_transfer).all()
    assert ((again.transfer_start < 0) == (schedule.transfer_start < 0)).all()
    for objective in FINISH_OBJECTIVES:
        assert objective_value(instance, again, objective) <= objective_value(instance, schedule, objective)
    twice = left_shift(instance, again.gpu, again.start, again.transfer_start)
    assert (twice.start == again.start).all()
