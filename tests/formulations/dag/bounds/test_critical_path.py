"""Tests of the critical path bound."""

from __future__ import annotations

from formulations.dag.bounds.critical_path import critical_path
from instances import DagInstance, Objective


def test_examples(
    heft_example: DagInstance, join_example: DagInstance, window_example: DagInstance, example_e: DagInstance
) -> None:
    """Tests the longest paths with smallest durations by hand: 41, 4 + 2, 2 + 4 + 2 and 4 + 3 + 6."""
    values = [critical_path(one, Objective.MAKESPAN) for one in (heft_example, join_example, window_example, example_e)]
    assert values == [41, 6, 8, 13]


def test_releases_begin_the_path() -> None:
    """Tests that a path begins at the release of its first task, or later at that of another one."""
    instance = DagInstance.from_lists([[3], [4], [5]], [(0, 1, 9)], job_of_task=[0, 1, 1], release=[2, 7])
    assert critical_path(instance, Objective.MAKESPAN) == 12  # 7 + 5; 7 + 4 for task 1, which could start at 5


def test_weighted_completion() -> None:
    """Tests that each job counts with the longest path that ends in it, a job without tasks with its release."""
    instance = DagInstance.from_lists(
        [[3, 9], [4, 2], [5, 5]], [(0, 1, 9)], job_of_task=[0, 1, 0], release=[1, 0, 20], weight=[2, 3, 1]
    )
    assert critical_path(instance, Objective.WEIGHTED_COMPLETION) == 2 * (1 + 5) + 3 * (1 + 3 + 2) + 20


def test_memory_bars_fast_gpus() -> None:
    """Tests that the smallest duration is over GPUs on which the task fits."""
    instance = DagInstance.from_lists([[1, 8]], task_memory=[5], gpu_memory=[4, None])
    assert critical_path(instance, Objective.MAKESPAN) == 8


def test_no_tasks() -> None:
    """Tests that without tasks the bound is 0, and the weighted releases for the other objective."""
    empty = DagInstance.from_lists([], num_gpus=1, release=[3], weight=[2])
    assert critical_path(empty, Objective.MAKESPAN) == 0
    assert critical_path(empty, Objective.WEIGHTED_COMPLETION) == 6
