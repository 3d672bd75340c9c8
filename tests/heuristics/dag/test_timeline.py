"""Tests of what runs on each GPU and when it is free."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.timeline import (
    UNLIMITED,
    earliest_free_start,
    least_overflow,
    memory_left,
    new_timeline,
    objective_of,
    place,
    ready_times,
)
from instances.dag.instance import DagInstance

BUSY = [(2, 5), (5, 6), (9, 12)]


def first_start(ready: int, duration: int, *, insertion: bool = True, busy: list[tuple[int, int]] = BUSY) -> int:
    """Return the earliest start among busy slots."""
    slots = np.array(busy, dtype=np.int64).reshape(-1, 2)
    return earliest_free_start(slots[:, 0].copy(), slots[:, 1].copy(), len(slots), ready, duration, insertion)


@pytest.mark.parametrize(
    ("ready", "duration", "start"),
    [
        (0, 2, 0),  # at the front
        (1, 1, 1),
        (1, 2, 6),  # too long for the front: the gap 6 to 9
        (0, 3, 6),
        (7, 2, 7),
        (8, 2, 12),
        (0, 4, 12),
        (5, 1, 6),  # 5 to 6 is busy
        (12, 1, 12),
        (20, 1, 20),
        (3, 0, 3),  # duration 0 occupies nothing
    ],
)
def test_insertion_into_gaps(ready: int, duration: int, start: int) -> None:
    """Tests the first gap that is long enough, at the front, between slots and at the end."""
    assert first_start(ready, duration) == start


@pytest.mark.parametrize(("ready", "duration", "start"), [(0, 1, 12), (0, 0, 0), (13, 2, 13)])
def test_without_insertion(ready: int, duration: int, start: int) -> None:
    """Tests that a task stands after all others, and that a task of duration 0 need not."""
    assert first_start(ready, duration, insertion=False) == start


def test_idle_gpu() -> None:
    """Tests that nothing delays a task on an idle GPU."""
    assert first_start(4, 9, busy=[]) == 4


@given(
    cuts=st.lists(st.integers(0, 40), unique=True, max_size=14),
    ready=st.integers(0, 45),
    duration=st.integers(0, 10),
)
@settings(max_examples=300, deadline=None)
def test_insertion_tick_by_tick(cuts: list[int], ready: int, duration: int) -> None:
    """Tests that the start is the first tick from which all ticks of the task are idle."""
    ends = sorted(cuts)[: len(cuts) // 2 * 2]
    busy = list(zip(ends[::2], ends[1::2], strict=True))
    taken = {tick for begin, end in busy for tick in range(begin, end)}
    expected = next(begin for begin in range(ready, 100) if not taken & set(range(begin, begin + duration)))
    assert first_start(ready, duration, busy=busy) == expected


@pytest.fixture
def instance() -> DagInstance:
    """Three tasks, the last one on GPU 0 only; GPU 0 has 10 bytes, GPU 1 has no limit."""
    return DagInstance.from_lists(
        [[3, 4], [2, 2], [0, None]],
        [(0, 1, 5), (0, 2, 0)],
        latency=[[0, 1], [2, 0]],
        bytes_per_tick=[[1, 2], [0.5, 1]],
        task_memory=[4, 5, 3],
        gpu_memory=[10, None],
        job_of_task=[0, 0, 1],
        release=[1, 7],
        weight=[2, 5],
    )


def test_placing_keeps_slots_memory_and_reservations(instance: DagInstance) -> None:
    """Tests free and reserved memory, slots in order of time, and room that other tasks' reservations reduce."""
    arrays = dag_arrays(instance)
    timeline = new_timeline(arrays)
    assert timeline.free_memory.tolist() == [10, UNLIMITED]
    assert timeline.reserved.tolist() == [3, 0]
    assert [memory_left(arrays, timeline, task, 0) for task in range(3)] == [10 - 3 - 4, 10 - 3 - 5, 10 - 3]
    place(arrays, timeline, 0, 0, 8)
    place(arrays, timeline, 1, 0, 1)
    assert timeline.overflow[0] == 0
    assert timeline.slot_start[0, :2].tolist() == [1, 8]
    assert timeline.slot_finish[0, :2].tolist() == [3, 11]
    assert memory_left(arrays, timeline, 2, 0) == 10 - 9 - 3
    place(arrays, timeline, 2, 0, 11)
    assert (timeline.num_slots.tolist(), timeline.reserved.tolist()) == ([2, 0], [0, 0])
    assert (timeline.free_memory[0], timeline.overflow[0]) == (-2, 2)
    assert timeline.finish.tolist() == [11, 3, 11]


def test_overflow_adds_up(instance: DagInstance) -> None:
    """Tests that bytes beyond a limit are counted once each."""
    tight = DagInstance.from_lists([[1, 1]] * 4, task_memory=[4] * 4, gpu_memory=[6, 10])
    arrays = dag_arrays(tight)
    timeline = new_timeline(arrays)
    seen = []
    for task in range(4):
        place(arrays, timeline, task, 0, task)
        seen.append(int(timeline.overflow[0]))
    assert seen == [0, 2, 6, 10]


@pytest.mark.parametrize(
    ("size", "home", "free"), [(6, [0, 1, 0, 1], [0, 5]), (5, [0, 0, 1, 1], [0, 6]), (3, [0, 0, 0, 1], [0, 8])]
)
def test_the_smallest_task_that_makes_room_leaves(size: int, home: list[int], free: list[int]) -> None:
    """Tests a task that comes to a GPU where 3 bytes are free, from one where its home was, beside tasks of 3 and 2."""
    tight = DagInstance.from_lists([[1, 1]] * 4, task_memory=[size, 3, 2, 4], gpu_memory=[8, 12])
    arrays = dag_arrays(tight)._replace(home=np.array([1, 0, 0, 1]))
    timeline = new_timeline(arrays)
    assert timeline.free_memory.tolist() == [3, 8 - size]
    assert memory_left(arrays, timeline, 0, 0) == 0
    place(arrays, timeline, 0, 0, 0)
    assert (timeline.home.tolist(), timeline.free_memory.tolist()) == (home, free)


def test_least_overflow_takes_the_gpu_with_most_room() -> None:
    """Tests that a task that fits nowhere goes where least is missing, ties to the lowest index."""
    tight = DagInstance.from_lists([[1, 1, 1]] * 3, task_memory=[5, 4, 5], gpu_memory=[5, 7, 7])
    arrays = dag_arrays(tight)
    timeline = new_timeline(arrays)
    assert least_overflow(arrays, timeline, 2) == 1
    place(arrays, timeline, 0, 1, 0)
    assert least_overflow(arrays, timeline, 2) == 2


def test_ready_times(instance: DagInstance) -> None:
    """Tests release and arrival of data on every GPU: 5 bytes from GPU 1 take 2 + 10 ticks to GPU 0."""
    arrays = dag_arrays(instance)
    timeline = new_timeline(arrays)
    ready = np.empty(2, dtype=np.int64)
    ready_times(arrays, timeline, 0, ready)
    assert ready.tolist() == [1, 1]
    place(arrays, timeline, 0, 1, 1)
    ready_times(arrays, timeline, 1, ready)
    assert ready.tolist() == [5 + 2 + 10, 5]
    ready_times(arrays, timeline, 2, ready)
    assert ready.tolist() == [7, 7]  # no data on that edge; the release is later


def test_objectives(instance: DagInstance) -> None:
    """Tests both objectives of a complete timeline, and that an empty one ends at 0."""
    arrays = dag_arrays(instance)
    timeline = new_timeline(arrays)
    for task, k, start in ((0, 1, 1), (1, 1, 5), (2, 0, 9)):
        place(arrays, timeline, task, k, start)
    assert objective_of(arrays, timeline, False) == 9
    assert objective_of(arrays, timeline, True) == 2 * 7 + 5 * 9
    empty = dag_arrays(DagInstance.from_lists([], num_gpus=1, release=[3], weight=[4]))
    assert objective_of(empty, new_timeline(empty), False) == 0
    assert objective_of(empty, new_timeline(empty), True) == 12
