"""Tests of the join-aware path bound."""

from __future__ import annotations

from formulations.dag.bounds.join_aware_path import join_aware_path
from instances import DagInstance, Objective


def test_examples(
    heft_example: DagInstance, join_example: DagInstance, window_example: DagInstance, example_e: DagInstance
) -> None:
    """Tests the published examples, 63, 9 and 10, and that E is closed: 15."""
    values = [
        join_aware_path(one, Objective.MAKESPAN) for one in (heft_example, join_example, window_example, example_e)
    ]
    assert values == [63, 9, 10, 15]


def test_fork_is_bounded_like_a_join() -> None:
    """Tests the mirror image: three successors on the only near GPU cannot overlap."""
    instance = DagInstance.from_lists([[1, 1], [4, 4], [4, 4], [4, 4]], [(0, 1, 9), (0, 2, 9), (0, 3, 9)])
    assert join_aware_path(instance, Objective.MAKESPAN) == 13  # all local: 1 + 12; one remote: 1 + 9 + 4 = 14


def test_weighted_completion() -> None:
    """Tests that successors of other jobs do not count for a job, and that jobs are weighted."""
    instance = DagInstance.from_lists(
        [[1, 1], [4, 4], [4, 4]], [(0, 1, 9), (0, 2, 9)], job_of_task=[0, 1, 1], release=[0, 0], weight=[3, 2]
    )
    assert join_aware_path(instance, Objective.MAKESPAN) == 9
    assert join_aware_path(instance, Objective.WEIGHTED_COMPLETION) == 3 * 1 + 2 * 5
