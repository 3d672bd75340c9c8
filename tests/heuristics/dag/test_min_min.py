"""Tests of min-min."""

from __future__ import annotations

from hypothesis import given, settings

from heuristics.dag.min_min import min_min
from instances import DagInstance
from tests.plain_dynamic_lists import plain_dynamic_list
from tests.strategies import dag_instances


def test_example_e(example_e: DagInstance) -> None:
    """Tests the schedule computed by hand: task 4 would finish at 16, task 3 at 18, so 4 goes first."""
    schedule = min_min(example_e)
    assert schedule.gpu.tolist() == [0, 0, 0, 1, 0]
    assert schedule.start.tolist() == [0, 4, 7, 15, 10]


def test_short_tasks_go_first() -> None:
    """Tests that independent tasks on one GPU are sorted by duration."""
    assert min_min(DagInstance.from_lists([[5], [2], [9], [2]])).start.tolist() == [4, 0, 9, 2]


@given(instance=dag_instances(max_tasks=12, max_gpus=4, memory=False))
@settings(max_examples=120, deadline=None)
def test_equals_plain_min_min(instance: DagInstance) -> None:
    """Tests that every placement and start is that of a naive implementation."""
    schedule = min_min(instance)
    assert schedule is not None
    assert (schedule.gpu.tolist(), schedule.start.tolist()) == plain_dynamic_list(instance, "min-min")


@given(instance=dag_instances(max_tasks=12, max_gpus=4))
@settings(max_examples=120, deadline=None)
def test_equals_plain_min_min_with_memory(instance: DagInstance) -> None:
    """Tests the same with memory limits, where both find the same dead ends."""
    schedule = min_min(instance)
    found = None if schedule is None else (schedule.gpu.tolist(), schedule.start.tolist())
    assert found == plain_dynamic_list(instance, "min-min")
