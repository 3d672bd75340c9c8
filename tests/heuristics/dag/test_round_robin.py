"""Tests of round-robin."""

from __future__ import annotations

from heuristics.dag.round_robin import round_robin
from instances import DagInstance


def test_example_e(example_e: DagInstance) -> None:
    """Tests that tasks in topological order go to GPUs 0, 1, 0, 1, 0 and start as early as they can."""
    schedule = round_robin(example_e)
    assert schedule.gpu.tolist() == [0, 1, 0, 1, 0]
    assert schedule.start.tolist() == [0, 8, 4, 12, 7]


def test_forbidden_gpus_are_skipped() -> None:
    """Tests that the next GPU is the next one that may run the task, counted from the task before."""
    instance = DagInstance.from_lists([[1, 1, 1], [1, None, 1], [1, 1, 1], [None, None, 1], [None, 1, None]])
    assert round_robin(instance).gpu.tolist() == [0, 2, 0, 2, 1]


def test_full_gpus_are_skipped() -> None:
    """Tests that a GPU without room is passed over and that a task that fits nowhere makes no schedule."""
    fields = {"task_memory": [2, 2, 2, 2], "gpu_memory": [2, None]}
    assert round_robin(DagInstance.from_lists([[1, 1]] * 4, **fields)).gpu.tolist() == [0, 1, 1, 1]
    tight = DagInstance.from_lists([[1, 1]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3])
    assert round_robin(tight) is None


def test_order_is_topological_not_by_index() -> None:
    """Tests that a task with a later predecessor waits its turn."""
    assert round_robin(DagInstance.from_lists([[1, 1]] * 3, [(2, 0, 0)])).gpu.tolist() == [0, 0, 1]
