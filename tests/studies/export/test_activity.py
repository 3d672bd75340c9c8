"""Tests of what goes on while a schedule runs."""

from __future__ import annotations

import pytest

import optgap
from instances.dag.instance import DagInstance
from instances.dag.schedule import DagSchedule
from studies.export.activity import MemoryUse, Track, Wait, activity
from tests.contended_instances import contended_instance


def test_transfers_of_one_link_get_tracks_of_their_own() -> None:
    """Tests names, tracks and times of tasks and transfers, two of which share a link."""
    instance = DagInstance.from_lists(
        [[2, 9], [2, 9], [9, 3]],
        [(0, 2, 6), (1, 2, 4)],
        latency=1,
        gpu_servers=["left", "right"],
        task_memory=[5, 6, 7],
        gpu_memory=[20, None],
        name="two",
    )
    shown = activity(instance, DagSchedule(gpu=[0, 0, 1], start=[0, 2, 9]))
    assert shown.tracks == (
        Track("g0", "left", "GPU"),
        Track("g1", "right", "GPU"),
        Track("g0 to g1", "left", "GPU", True),
        Track("g0 to g1 (2)", "left", "GPU", True),
    )
    assert [(item.name, item.track, item.start, item.ticks, item.size) for item in shown.slices] == [
        ("t0", 0, 0, 2, None),
        ("t1", 0, 2, 2, None),
        ("t2", 1, 9, 3, None),
        ("t0 to t2", 2, 2, 7, 6),
        ("t1 to t2", 3, 4, 5, 4),
    ]
    assert shown.memory == (
        MemoryUse(track=0, steps=((0, 11),), capacity=20),
        MemoryUse(track=1, steps=((0, 7),), capacity=None),
    )
    assert shown.end == 12


def test_buffers_are_in_use_until_they_are_released() -> None:
    """Tests that memory rises at the start of a buffer's task and falls at the last finish that releases it."""
    instance = DagInstance.from_lists(
        [[2, 2], [3, 3], [4, 4]],
        [(0, 1, 0), (0, 2, 0)],
        task_memory=[10, 0, 0],
        gpu_memory=[100, 100],
        buffers=[(0, 7, [1, 2]), (1, 5, [1])],
    )
    shown = activity(instance, DagSchedule(gpu=[0, 0, 1], start=[1, 3, 3]))
    assert [use.steps for use in shown.memory] == [((0, 10), (1, 17), (3, 22), (6, 17), (7, 10)), ((0, 0),)]


def test_binding_chain_says_what_each_task_waited_for(example_e: DagInstance) -> None:
    """Tests that the chain leads from the last finish back to tick 0, by data, by a busy GPU, and by idle time."""
    schedule = DagSchedule(gpu=[0, 0, 0, 1, 0], start=[0, 4, 7, 15, 10])
    assert activity(example_e, schedule).binding_chain == (
        Wait(task=3, reason="data", other=2),
        Wait(task=2, reason="gpu", other=1),
        Wait(task=1, reason="data", other=0),
        Wait(task=0, reason="release"),
    )
    late = DagSchedule(gpu=[0, 0, 0, 1, 0], start=[0, 4, 7, 16, 10])
    assert activity(example_e, late).binding_chain == (Wait(task=3, reason="nothing"),)


@pytest.mark.parametrize("seed", range(3))
def test_contended_transfers_run_when_the_schedule_says(seed: int) -> None:
    """Tests that the transfers of a schedule with contention are those of the schedule, and never arrive late."""
    instance = contended_instance(seed)
    schedule = optgap.solve(instance, "heft", contention="nic").schedule
    shown = activity(instance, schedule)
    moved = {item.item: item for item in shown.slices if item.size is not None}
    for edge, (_, head) in enumerate(instance.edges.tolist()):
        if edge in moved:
            given = int(schedule.transfer_start[edge])
            assert given in (-1, moved[edge].start)
            assert moved[edge].start + moved[edge].ticks <= schedule.start[head]


def test_jobs_hold_a_lane_per_gpu() -> None:
    """Tests that every GPU of a job's gang has a slice from its start to its completion, and lanes do not overlap."""
    instance = optgap.generate("jobs-small", jobs=5, seed=2)
    result = optgap.solve(instance, "fifo")
    shown = activity(instance, result.schedule)
    for job in range(instance.num_jobs):
        own = [item for item in shown.slices if item.item == job]
        assert len(own) == instance.gang_size[job]
        assert {item.start + item.ticks for item in own} == {int(result.completion[job])}
    assert len({(item.track, item.start) for item in shown.slices}) == len(shown.slices)
    assert (len(shown.tracks), shown.memory, shown.binding_chain) == (instance.num_gpus, (), ())


def test_no_tasks() -> None:
    """Tests that an empty schedule has tracks and nothing on them."""
    shown = activity(DagInstance.from_lists([], num_gpus=2), DagSchedule(gpu=[], start=[]))
    assert (len(shown.tracks), shown.slices, shown.binding_chain, shown.end) == (2, (), (), 0)
