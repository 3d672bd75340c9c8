"""Tests of how many tasks of a job can run at once."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings

from formulations.dag.bounds import job_width as module
from formulations.dag.bounds.job_width import job_widths
from formulations.dag.bounds.job_work import shortest_durations
from formulations.dag.incomparable_pairs import reachable
from instances import DagInstance
from tests.strategies import dag_instances

if TYPE_CHECKING:
    import pytest


def test_chains_forks_and_gpus() -> None:
    """Tests a chain (1), a fork of three on two GPUs (2) and on four (3), tasks on one GPU (1) and without work (1)."""
    chain = DagInstance.from_lists([[2] * 4] * 3, [(0, 1, 0), (1, 2, 0)])
    fork = [(0, 1, 0), (0, 2, 0), (0, 3, 0)]
    assert job_widths(chain).tolist() == [1]
    assert job_widths(DagInstance.from_lists([[2] * 2] * 4, fork)).tolist() == [2]
    assert job_widths(DagInstance.from_lists([[2] * 4] * 4, fork)).tolist() == [3]
    assert job_widths(DagInstance.from_lists([[2, None]] * 4, fork)).tolist() == [1]
    assert job_widths(DagInstance.from_lists([[0, 5]] * 4, fork)).tolist() == [1]


def test_paths_through_other_jobs_count() -> None:
    """Tests that two tasks of a job that a task of another one orders cannot run at once."""
    instance = DagInstance.from_lists(
        [[2, 2]] * 3, [(0, 1, 0), (1, 2, 0)], job_of_task=[0, 1, 0], release=[0, 0], name="through"
    )
    assert job_widths(instance).tolist() == [1, 1]


def test_large_instances_count_gpus_and_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that beyond the limit only GPUs and tasks are counted."""
    chain = DagInstance.from_lists([[2] * 4] * 3, [(0, 1, 0), (1, 2, 0)])
    monkeypatch.setattr(module, "MAX_TASKS", 2)
    assert job_widths(chain).tolist() == [3]


@given(instance=dag_instances(max_tasks=7))
@settings(max_examples=100, deadline=None)
def test_largest_set_without_paths(instance: DagInstance) -> None:
    """Tests against all subsets of every job's tasks."""
    ordered = reachable(instance)
    takes_time = shortest_durations(instance) > 0
    for job, width in enumerate(job_widths(instance).tolist()):
        tasks = np.flatnonzero((instance.job_of_task == job) & takes_time).tolist()
        largest = max(
            (
                size
                for size in range(1, len(tasks) + 1)
                for some in combinations(tasks, size)
                if not ordered[np.ix_(some, some)].any()
            ),
            default=1,
        )
        gpus = int(instance.allowed[tasks].any(axis=0).sum()) if tasks else 1
        assert width == max(1, min(largest, gpus))
