"""Tests of the verifier: every violation alone with its amount, several together, and what is no violation."""

from __future__ import annotations

import pytest

from instances import DagInstance, DagSchedule, verify_dag_schedule
from instances.dag_violations import (
    EarlyStart,
    LateTransfer,
    MemoryOverflow,
    NotAllowed,
    Overlap,
    UnknownGpu,
    WrongLength,
)


@pytest.fixture(scope="module")
def instance() -> DagInstance:
    """Three tasks on two GPUs: 0 -> 1 carries 5 bytes, task 2 is a job of its own, released at 4."""
    return DagInstance.from_lists(
        [[3, 4], [5, 6], [2, None]],
        [(0, 1, 5)],
        latency=[[0, 1], [2, 0]],
        bytes_per_tick=[[1, 2.0], [0.5, 1]],
        task_memory=[4, 4, 4],
        gpu_memory=[8, None],
        job_of_task=[0, 0, 1],
        release=[0, 4],
    )


def violations(instance: DagInstance, gpu: list[int], start: list[int]) -> list[object]:
    """Return the violations of a schedule given as lists."""
    return verify_dag_schedule(instance, DagSchedule(gpu=gpu, start=start))


@pytest.mark.parametrize(
    ("gpu", "start"),
    [
        ([0, 1, 0], [0, 7, 4]),  # 3 + 1 + ceil(5 / 2)
        ([1, 0, 0], [0, 16, 4]),  # 4 + 2 + ceil(5 / 0.5)
        ([1, 1, 0], [0, 4, 4]),
    ],
)
def test_tight_schedules_are_right(instance: DagInstance, gpu: list[int], start: list[int]) -> None:
    """Tests that schedules without a tick to spare have no violation."""
    assert violations(instance, gpu, start) == []


@pytest.mark.parametrize(("gpu", "start", "ticks"), [([0, 1, 0], [0, 6, 4], 1), ([1, 0, 0], [0, 5, 10], 11)])
def test_late_transfer(instance: DagInstance, gpu: list[int], start: list[int], ticks: int) -> None:
    """Tests that data over a link in either direction is waited for, with the missing ticks."""
    assert violations(instance, gpu, start) == [LateTransfer(edge=0, tail=0, head=1, ticks=ticks)]


def test_precedence_on_one_gpu(instance: DagInstance) -> None:
    """Tests that on one GPU no data is waited for, but the predecessor is."""
    assert violations(instance, [1, 1, 0], [0, 3, 4]) == [
        Overlap(gpu=1, tasks=(0, 1), ticks=1),
        LateTransfer(edge=0, tail=0, head=1, ticks=1),
    ]


def test_early_start(instance: DagInstance) -> None:
    """Tests that a task before the release of its job is early by the difference, also below zero."""
    assert violations(instance, [1, 1, 0], [0, 4, 1]) == [EarlyStart(task=2, job=1, ticks=3)]
    assert violations(instance, [1, 1, 0], [-5, 4, 4]) == [EarlyStart(task=0, job=0, ticks=5)]


def test_overlap(instance: DagInstance) -> None:
    """Tests that an overlap has the GPU, both tasks in order of their numbers, and the common ticks."""
    wide = DagInstance.from_lists([[6], [3], [4]])
    assert violations(wide, [0, 0, 0], [4, 0, 20]) == []
    assert violations(wide, [0, 0, 0], [2, 0, 20]) == [Overlap(gpu=0, tasks=(0, 1), ticks=1)]
    assert violations(wide, [0, 0, 0], [0, 2, 20]) == [Overlap(gpu=0, tasks=(0, 1), ticks=3)]


def test_three_tasks_that_overlap_are_three_pairs() -> None:
    """Tests that every pair is listed, also those that are no neighbours in time."""
    instance = DagInstance.from_lists([[10], [2], [3], [1]])
    assert violations(instance, [0, 0, 0, 0], [0, 3, 4, 30]) == [
        Overlap(gpu=0, tasks=(0, 1), ticks=2),
        Overlap(gpu=0, tasks=(0, 2), ticks=3),
        Overlap(gpu=0, tasks=(1, 2), ticks=1),
    ]
    assert violations(instance, [0, 0, 0, 0], [0, 1, 5, 9]) == [
        Overlap(gpu=0, tasks=(0, 1), ticks=2),
        Overlap(gpu=0, tasks=(0, 2), ticks=3),
        Overlap(gpu=0, tasks=(0, 3), ticks=1),
    ]


def test_duration_zero_occupies_nothing() -> None:
    """Tests that a task of duration 0 may stand inside another one, at its start, or beside one of its kind."""
    instance = DagInstance.from_lists([[5, 5], [0, 1], [0, 1]])
    for start in (0, 2, 5):
        assert violations(instance, [0, 0, 0], [0, start, start]) == []
    assert violations(instance, [0, 1, 1], [0, 2, 2]) == [Overlap(gpu=1, tasks=(1, 2), ticks=1)]


def test_duration_zero_still_waits_for_data() -> None:
    """Tests that a task of duration 0 keeps release and transfers."""
    instance = DagInstance.from_lists([[2, 2], [0, 0]], [(0, 1, 3)], release=[1])
    assert violations(instance, [0, 1], [1, 6]) == []
    assert violations(instance, [0, 1], [1, 5]) == [LateTransfer(edge=0, tail=0, head=1, ticks=1)]
    assert violations(instance, [0, 0], [1, 0]) == [
        EarlyStart(task=1, job=0, ticks=1),
        LateTransfer(edge=0, tail=0, head=1, ticks=3),
    ]


def test_memory_exactly_full_and_one_beyond(instance: DagInstance) -> None:
    """Tests that a full GPU is right, that tasks far apart in time add up, and that null is no limit."""
    assert violations(instance, [0, 0, 0], [0, 3, 100]) == [MemoryOverflow(gpu=0, bytes=4)]
    assert violations(instance, [0, 1, 0], [0, 50, 100]) == []
    assert violations(instance, [1, 1, 0], [0, 50, 100]) == []


def test_edge_without_data_needs_no_transfer() -> None:
    """Tests that an edge of 0 bytes has no latency either."""
    instance = DagInstance.from_lists([[2, 2], [2, 2]], [(0, 1, 0)], latency=9)
    assert violations(instance, [0, 1], [0, 2]) == []
    assert violations(instance, [0, 1], [0, 1]) == [LateTransfer(edge=0, tail=0, head=1, ticks=1)]


def test_misplaced_tasks_hide_the_rest(instance: DagInstance) -> None:
    """Tests that wrong length, unknown GPUs and forbidden pairs are listed alone, as times mean nothing then."""
    assert violations(instance, [0], [0]) == [WrongLength(expected=3, scheduled=1)]
    assert violations(instance, [0, 2, -1], [0, 0, 0]) == [
        UnknownGpu(task=1, gpu=2, num_gpus=2),
        UnknownGpu(task=2, gpu=-1, num_gpus=2),
    ]
    assert violations(instance, [0, 0, 1], [0, 0, 0]) == [NotAllowed(task=2, gpu=1)]


def test_everything_at_once_is_listed(instance: DagInstance) -> None:
    """Tests that violations of all kinds are listed together, each once."""
    assert violations(instance, [0, 0, 0], [0, 1, 2]) == [
        EarlyStart(task=2, job=1, ticks=2),
        Overlap(gpu=0, tasks=(0, 1), ticks=2),
        Overlap(gpu=0, tasks=(0, 2), ticks=1),
        Overlap(gpu=0, tasks=(1, 2), ticks=2),
        LateTransfer(edge=0, tail=0, head=1, ticks=2),
        MemoryOverflow(gpu=0, bytes=4),
    ]


def test_no_tasks() -> None:
    """Tests that the empty schedule is right where there are no tasks, and only there."""
    empty = DagInstance.from_lists([], num_gpus=1)
    assert violations(empty, [], []) == []
    assert violations(empty, [0], [0]) == [WrongLength(expected=0, scheduled=1)]


def test_fractional_bandwidth_is_rounded_up_in_floating_point() -> None:
    """Tests that the verifier takes the same 64-bit quotient as the instance: 3 bytes at 0.1 per tick are 30 ticks."""
    instance = DagInstance.from_lists([[1, 1], [1, 1]], [(0, 1, 3)], bytes_per_tick=0.1)
    assert instance.transfer_delays(0)[0, 1] == 30
    assert violations(instance, [0, 1], [0, 31]) == []
    assert violations(instance, [0, 1], [0, 30]) == [LateTransfer(edge=0, tail=0, head=1, ticks=1)]


@pytest.mark.parametrize(
    ("violation", "text"),
    [
        (WrongLength(expected=3, scheduled=1), "schedule: expected 3 tasks, got 1."),
        (UnknownGpu(task=1, gpu=2, num_gpus=2), "gpu[1]: expected a GPU in 0..1, got 2."),
        (NotAllowed(task=2, gpu=1), "gpu[2]: expected a GPU that may run task 2, got 1."),
        (EarlyStart(task=2, job=1, ticks=3), "start[2]: 3 ticks before the release of job 1."),
        (Overlap(gpu=1, tasks=(0, 1), ticks=2), "tasks 0 and 1: overlap by 2 ticks on GPU 1."),
        (
            LateTransfer(edge=4, tail=0, head=1, ticks=2),
            "edges[4]: task 1 starts 2 ticks before the data of task 0.",
        ),
        (MemoryOverflow(gpu=0, bytes=4), "gpus[0]: its tasks need 4 bytes more than it has."),
    ],
)
def test_violations_in_words(violation: object, text: str) -> None:
    """Tests that each violation names place and amount in one line."""
    assert str(violation) == text
