"""Tests of max-min."""

from __future__ import annotations

from hypothesis import given, settings

from heuristics.dag.max_min import max_min
from instances import DagInstance
from tests.plain_dynamic_lists import plain_dynamic_list
from tests.strategies import dag_instances


def test_example_e(example_e: DagInstance) -> None:
    """Tests the schedule computed by hand: task 3 would finish at 18, task 4 at 16, so 3 goes first."""
    schedule = max_min(example_e)
    assert schedule.gpu.tolist() == [0, 0, 0, 0, 0]
    assert schedule.start.tolist() == [0, 4, 7, 10, 18]


def test_long_tasks_go_first() -> None:
    """Tests that independent tasks on one GPU are sorted by duration, longest first."""
    assert max_min(DagInstance.from_lists([[5], [2], [9], [2]])).start.tolist() == [9, 14, 0, 16]


@given(instance=dag_instances(max_tasks=12, max_gpus=4, memory=False))
@settings(max_examples=120, deadline=None)
def test_equals_plain_max_min(instance: DagInstance) -> None:
    """Tests that every placement and start is that of a naive implementation."""
    schedule = max_min(instance)
    assert schedule is not None
    assert (schedule.gpu.tolist(), schedule.start.tolist()) == plain_dynamic_list(instance, "max-min")


@given(instance=dag_instances(max_tasks=12, max_gpus=4))
@settings(max_examples=120, deadline=None)
def test_equals_plain_max_min_with_memory(instance: DagInstance) -> None:
    """Tests the same with memory limits, where both find the same dead ends."""
    schedule = max_min(instance)
    found = None if schedule is None else (schedule.gpu.tolist(), schedule.start.tolist())
    assert found == plain_dynamic_list(instance, "max-min")
