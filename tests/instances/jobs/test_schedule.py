"""Tests of schedules of jobs as data."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from instances.jobs.objective import JobsObjective
from instances.jobs.schedule import JobsSchedule
from tests.jobs_strategies import worked_example

MATRICES = (np.array([[1, 1]]), np.array([[0, 2], [1, 0]]), np.array([[1, 0]]))


def _schedule() -> JobsSchedule:
    """Return a schedule of the worked example."""
    return JobsSchedule.from_placements(worked_example(), [30, 2, 4], MATRICES)


def test_rows_hold_the_matrices() -> None:
    """Tests that matrices become rows and come back."""
    instance, schedule = worked_example(), _schedule()
    assert schedule.entry_offsets.tolist() == [0, 2, 3, 4, 5]
    assert schedule.entry_server.tolist() == [0, 1, 1, 0, 0]
    assert schedule.entry_count.tolist() == [1, 1, 2, 1, 1]
    assert all((schedule.placement(instance, job) == MATRICES[job]).all() for job in range(3))
    assert [schedule.servers_of(instance, job).tolist() for job in range(3)] == [[0, 1], [0, 1], [0]]
    assert str(schedule) == "job 1 at 2\njob 2 at 4\njob 0 at 30"


def test_copies_are_read_only() -> None:
    """Tests that copies, of another process too, cannot be changed."""
    schedule = _schedule()
    assert copy.deepcopy(schedule) is schedule
    copied = pickle.loads(pickle.dumps(schedule))
    assert (copied.start.tolist(), copied.instance_sha256) == ([30, 2, 4], schedule.instance_sha256)
    with pytest.raises(ValueError, match="read-only"):
        copied.entry_count[0] = 2


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"entry_offsets": [0, 2, 1, 4, 5]}, r"entry_offsets: expected 0 to 5, ascending"),
        ({"entry_offsets": [0, 2, 3, 4]}, r"entry_offsets: expected 0 to 5, ascending"),
        ({"entry_offsets": []}, r"entry_offsets: expected 0 to 5, ascending, got \[\]\."),
        ({"entry_count": [1]}, r"entry_count: expected 5 entries, as many as servers, got 1\."),
        ({"entry_server": [1, 0, 1, 0, 0]}, r"stage 0: expected each server once .* got 1 before 0\."),
        ({"entry_server": [1, 1, 1, 0, 0]}, r"stage 0: expected each server once .* got 1 before 1\."),
    ],
)
def test_bad_rows(fields: dict[str, Any], message: str) -> None:
    """Tests that rows that do not fit together are refused."""
    with pytest.raises(ValueError, match=message):
        replace(_schedule(), **fields)


def test_bad_matrices() -> None:
    """Tests that every job needs a matrix of its own shape."""
    with pytest.raises(ValueError, match=r"placements: expected 3 matrices, got 2\."):
        JobsSchedule.from_placements(worked_example(), [0, 0, 0], MATRICES[:2])
    with pytest.raises(ValueError, match=r"placements\[1\]: expected 2 x 2 entries, got 1 x 2 entries\."):
        JobsSchedule.from_placements(worked_example(), [0, 0, 0], [MATRICES[0], MATRICES[0], MATRICES[2]])


def test_objectives_have_names() -> None:
    """Tests that objectives are found by name and others refused."""
    assert [str(item) for item in JobsObjective] == ["total_completion", "weighted_completion"]
    with pytest.raises(
        ValueError, match=r"objective: expected one of total_completion, weighted_completion, got 'x'\."
    ):
        JobsObjective("x")
