"""Tests of left shifts: from a solver's solution to the schedule it means."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.dag.left_shift import left_shift
from heuristics.dag.random_placement import random_placement
from instances import DagInstance, Objective, objective_value, verify_dag_schedule
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
    objective=st.sampled_from(list(Objective)),
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
