"""Tests of schedules as data."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from instances.dag.instance import DagInstance
from instances.dag.schedule import DagSchedule


def test_arrays_are_private_and_read_only() -> None:
    """Tests that the caller's arrays stay writable and that ours follows none of their changes."""
    gpu, start = np.array([0, 1], dtype=np.int32), np.array([5, 6])
    schedule = DagSchedule(gpu=gpu, start=start)
    gpu[0], start[0] = 9, 9
    assert (schedule.gpu.tolist(), schedule.start.tolist()) == ([0, 1], [5, 6])
    assert (schedule.gpu.dtype, schedule.start.dtype) == (np.int64, np.int64)
    with pytest.raises(ValueError, match="read-only"):
        schedule.start[0] = 1


@pytest.mark.parametrize(
    ("gpu", "start", "message"),
    [
        ([0, 1], [5], "start: expected 2 entries, one per task, got 1."),
        ([], [5], "start: expected 0 entries, one per task, got 1."),
        ([[0]], [5], "gpu: expected a list, got 1 x 1 entries."),
        ([0], [2**53 + 1], f"start: expected values up to 2**53, got {2**53 + 1}."),
    ],
)
def test_shapes_are_checked(gpu: list[int], start: list[int], message: str) -> None:
    """Tests that GPUs and starts must be lists of one length and in range."""
    with pytest.raises(ValueError) as caught:
        DagSchedule(gpu=gpu, start=start)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("gpu", "start", "message"),
    [
        ([0.0], [5], "gpu: expected integers, got 0.0 at [0]."),
        ([0], [2.5], "start: expected integers, got 2.5 at [0]."),
        ([False], [5], "gpu: expected integers, got False at [0]."),
    ],
)
def test_kinds_are_checked(gpu: list[object], start: list[object], message: str) -> None:
    """Tests that GPUs and starts are integers."""
    with pytest.raises(TypeError) as caught:
        DagSchedule(gpu=gpu, start=start)
    assert str(caught.value) == message


def test_text_lists_tasks_by_gpu_and_start() -> None:
    """Tests that the text names the tasks of each used GPU in order of start."""
    schedule = DagSchedule(gpu=[2, 0, 2], start=[7, 1, 3])
    assert str(schedule) == "GPU 0: task 1 at 1\nGPU 2: task 2 at 3, task 0 at 7"
    assert str(DagSchedule(gpu=[], start=[])) == "no tasks"


def test_html_without_instance_shows_the_text() -> None:
    """Tests that a schedule that knows no instance shows counts and its text."""
    html = DagSchedule(gpu=[0, 2], start=[0, 1])._repr_html_()
    assert "<th" in html
    assert html.endswith("<pre>GPU 0: task 0 at 0\nGPU 2: task 1 at 1</pre>")


def test_html_with_instance_shows_objectives_and_chart() -> None:
    """Tests that a schedule that knows its instance shows both objectives and a Gantt chart."""
    instance = DagInstance.from_lists([[4], [3]], job_of_task=[0, 1], release=[0, 0], weight=[1, 10])
    html = DagSchedule(gpu=[0, 0], start=[0, 4], instance=instance)._repr_html_()
    assert '>makespan</th><td style="text-align:left">7<' in html
    assert '>weighted completion</th><td style="text-align:left">74<' in html
    assert html.count("<svg") == 1


def test_transfer_starts_are_private_and_checked() -> None:
    """Tests that starts of transfers are copied, read-only integers in a list of their own length, or None."""
    given = np.array([4, -1, 7], dtype=np.int32)
    schedule = DagSchedule(gpu=[0, 1], start=[0, 9], transfer_start=given)
    given[0] = 99
    assert schedule.transfer_start is not None
    assert (schedule.transfer_start.tolist(), schedule.transfer_start.dtype) == ([4, -1, 7], np.int64)
    with pytest.raises(ValueError, match="read-only"):
        schedule.transfer_start[0] = 1
    with pytest.raises(TypeError, match=r"transfer_start: expected integers, got 0.5 at \[0\]."):
        DagSchedule(gpu=[0], start=[0], transfer_start=[0.5])
    assert DagSchedule(gpu=[0], start=[0]).transfer_start is None


def test_transfer_starts_survive_pickling() -> None:
    """Tests that a copy from another process has the same transfers, and none where there were none."""
    with_transfers = pickle.loads(pickle.dumps(DagSchedule(gpu=[0, 1], start=[0, 9], transfer_start=[4])))
    assert with_transfers.transfer_start.tolist() == [4]
    assert not with_transfers.transfer_start.flags.writeable
    assert pickle.loads(pickle.dumps(DagSchedule(gpu=[0], start=[0]))).transfer_start is None


def test_repr_is_one_line() -> None:
    """Tests that the representation names the instance, where it is known, and the sizes."""
    instance = DagInstance.from_lists([[1, 1], [1, 1]], name="two")
    assert repr(DagSchedule(gpu=[0, 1], start=[0, 0], instance=instance)) == "DagSchedule('two': 2 tasks on 2 GPUs)"
    assert repr(DagSchedule(gpu=[1, 1], start=[0, 1])) == "DagSchedule(2 tasks on 1 GPUs)"
