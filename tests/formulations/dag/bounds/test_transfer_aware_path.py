"""Tests of the transfer-aware path bound."""

from __future__ import annotations

from formulations.dag.bounds.transfer_aware_path import transfer_aware_path
from instances import DagInstance, Objective


def test_examples(heft_example: DagInstance, join_example: DagInstance, window_example: DagInstance) -> None:
    """Tests the published examples: 54, 6 and 8."""
    values = [transfer_aware_path(one, Objective.MAKESPAN) for one in (heft_example, join_example, window_example)]
    assert values == [54, 6, 8]


def test_forced_transfer_counts() -> None:
    """Tests that data that must cross a link takes the faster of the links that lead there."""
    instance = DagInstance.from_lists(
        [[3, 4, None], [None, None, 5]], [(0, 1, 6)], latency=[[0, 0, 2], [0, 0, 1], [0, 0, 0]], bytes_per_tick=2.0
    )
    assert transfer_aware_path(instance, Objective.MAKESPAN) == 3 + (2 + 3) + 5  # from GPU 1: 4 + (1 + 3) + 5 = 13
    slower = DagInstance.from_lists(
        [[3, 4, None], [None, None, 5]], [(0, 1, 6)], latency=[[0, 0, 9], [0, 0, 1], [0, 0, 0]], bytes_per_tick=2.0
    )
    assert transfer_aware_path(slower, Objective.MAKESPAN) == 4 + (1 + 3) + 5


def test_weighted_completion() -> None:
    """Tests that each job counts with the longest path to its own last task."""
    instance = DagInstance.from_lists(
        [[3, None], [None, 4], [1, 1]], [(0, 1, 2)], job_of_task=[0, 1, 0], release=[1, 0, 6], weight=[2, 3, 5]
    )
    assert transfer_aware_path(instance, Objective.WEIGHTED_COMPLETION) == 2 * (1 + 3) + 3 * (1 + 3 + 2 + 4) + 5 * 6
