"""Tests of CPOP."""

from __future__ import annotations

from heuristics.dag.cpop import cpop
from instances import DagInstance, Objective, objective_value


def test_published_example(heft_example: DagInstance) -> None:
    """Tests that the example of the paper takes 86 ticks, as published, its critical path on the second machine."""
    schedule = cpop(heft_example)
    assert objective_value(heft_example, schedule, Objective.MAKESPAN) == 86
    assert schedule.gpu[[0, 1, 8, 9]].tolist() == [1, 1, 1, 1]


def test_example_e(example_e: DagInstance) -> None:
    """Tests the schedule computed by hand: path 0, 2, 3 has 15 ticks of work on GPU 0 and 16 on GPU 1."""
    schedule = cpop(example_e)
    assert schedule.gpu.tolist() == [0, 0, 0, 0, 0]
    assert schedule.start.tolist() == [0, 7, 4, 10, 18]
    assert objective_value(example_e, schedule, Objective.MAKESPAN) == 24


def test_path_takes_a_gpu_that_may_run_most_of_it() -> None:
    """Tests that the number of allowed tasks counts before the work, and that the rest finishes earliest."""
    instance = DagInstance.from_lists([[9, 1], [9, None], [9, 1]], [(0, 1, 0), (1, 2, 0)])
    schedule = cpop(instance)
    assert schedule.gpu.tolist() == [0, 0, 0]
    other = DagInstance.from_lists([[9, 8], [9, None], [None, 8]], [(0, 1, 0), (1, 2, 0)])
    assert cpop(other).gpu.tolist() == [1, 0, 1]  # two tasks each; 16 ticks of work on GPU 1, 18 on GPU 0


def test_full_gpu_releases_the_path() -> None:
    """Tests that a task of the path for which the pinned GPU has no memory left goes elsewhere."""
    instance = DagInstance.from_lists(
        [[2, 9], [2, 9], [2, 9]], [(0, 1, 0), (1, 2, 0)], task_memory=[3, 3, 3], gpu_memory=[6, None]
    )
    schedule = cpop(instance)
    assert schedule.gpu.tolist() == [0, 0, 1]
    assert schedule.start.tolist() == [0, 2, 4]


def test_no_tasks() -> None:
    """Tests that no tasks make an empty schedule."""
    assert cpop(DagInstance.from_lists([], num_gpus=2)).gpu.tolist() == []
