"""Tests of ETF."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.dynamic_list_scheduling import (
    EARLIEST_START,
    LARGEST_FINISH,
    SMALLEST_FINISH,
    _first_free,
    build_dynamic,
    etf,
    max_min,
    min_min,
    retime,
)
from heuristics.dag.priorities import static_levels
from heuristics.dag.timeline import new_timeline, place
from instances.dag.contention import Contention
from instances.dag.instance import DagInstance
from instances.dag.verify import verify_dag_schedule
from tests.plain_contention import plain_list_schedule
from tests.plain_dynamic_lists import plain_dynamic_list
from tests.strategies import dag_instances


def test_kernel_as_plain_python(example_e: DagInstance) -> None:
    """Tests the example below with the kernel run by Python, which checks every index."""
    arrays = dag_arrays(example_e)
    placement = build_dynamic.py_func(arrays, EARLIEST_START, static_levels(arrays))
    assert (placement.gpu.tolist(), placement.start.tolist()) == ([0, 0, 0, 1, 0], [0, 7, 4, 15, 10])


def test_example_e(example_e: DagInstance) -> None:
    """Tests the schedule computed by hand: ties at ticks 4, 7 and 10 go to the higher static level."""
    schedule = etf(example_e)
    assert schedule.gpu.tolist() == [0, 0, 0, 1, 0]
    assert schedule.start.tolist() == [0, 7, 4, 15, 10]


def test_earliest_start_beats_earliest_finish() -> None:
    """Tests that the GPU that is free first is taken though the task finishes later there."""
    instance = DagInstance.from_lists([[5, 50], [5, 50]])
    schedule = etf(instance)
    assert schedule.gpu.tolist() == [0, 1]
    assert schedule.start.tolist() == [0, 0]


def test_same_start_goes_to_the_smaller_finish() -> None:
    """Tests that among GPUs with one earliest start the faster one is taken."""
    assert etf(DagInstance.from_lists([[5, 4, 4]])).gpu.tolist() == [1]


@given(instance=dag_instances(max_tasks=12, max_gpus=4, memory=False))
@settings(max_examples=120, deadline=None)
def test_equals_plain_etf(instance: DagInstance) -> None:
    """Tests that every placement and start is that of a naive implementation."""
    schedule = etf(instance)
    assert schedule is not None
    assert (schedule.gpu.tolist(), schedule.start.tolist()) == plain_dynamic_list(instance, "etf")


@given(instance=dag_instances(max_tasks=12, max_gpus=4))
@settings(max_examples=120, deadline=None)
def test_equals_plain_etf_with_memory(instance: DagInstance) -> None:
    """Tests the same with memory limits, unless the naive implementation ends in a dead end."""
    schedule = etf(instance)
    found = None if schedule is None else (schedule.gpu.tolist(), schedule.start.tolist())
    assert plain_dynamic_list(instance, "etf") in (found, None)


def test_first_free_gpu_by_hand() -> None:
    """Tests that the first free GPU is one without tasks, else the one whose last task ends first."""
    arrays = dag_arrays(DagInstance.from_lists([[3, 5]] * 4))
    timeline, found = new_timeline(arrays), []
    for task, k, start in ((0, 0, 0), (1, 1, 0), (2, 0, 3), (3, 0, 6)):
        place(arrays, timeline, task, k, start)
        found.append(int(_first_free(timeline)))
    assert found == [0, 3, 5, 5]


def test_example_e_max_min(example_e: DagInstance) -> None:
    """Tests the schedule computed by hand: task 3 would finish at 18, task 4 at 16, so 3 goes first."""
    schedule = max_min(example_e)
    assert schedule.gpu.tolist() == [0, 0, 0, 0, 0]
    assert schedule.start.tolist() == [0, 4, 7, 10, 18]


def test_long_tasks_go_first() -> None:
    """Tests that independent tasks on one GPU are sorted by duration, longest first."""
    assert max_min(DagInstance.from_lists([[5], [2], [9], [2]])).start.tolist() == [9, 14, 0, 16]


@given(instance=dag_instances(max_tasks=12, max_gpus=4, memory=False))
@settings(max_examples=120, deadline=None)
def test_equals_plain_max_min(instance: DagInstance) -> None:
    """Tests that every placement and start is that of a naive implementation."""
    schedule = max_min(instance)
    assert schedule is not None
    assert (schedule.gpu.tolist(), schedule.start.tolist()) == plain_dynamic_list(instance, "max-min")


@given(instance=dag_instances(max_tasks=12, max_gpus=4))
@settings(max_examples=120, deadline=None)
def test_equals_plain_max_min_with_memory(instance: DagInstance) -> None:
    """Tests the same with memory limits, unless the naive implementation ends in a dead end."""
    schedule = max_min(instance)
    found = None if schedule is None else (schedule.gpu.tolist(), schedule.start.tolist())
    assert plain_dynamic_list(instance, "max-min") in (found, None)


def test_example_e_min_min(example_e: DagInstance) -> None:
    """Tests the schedule computed by hand: task 4 would finish at 16, task 3 at 18, so 4 goes first."""
    schedule = min_min(example_e)
    assert schedule.gpu.tolist() == [0, 0, 0, 1, 0]
    assert schedule.start.tolist() == [0, 4, 7, 15, 10]


def test_short_tasks_go_first() -> None:
    """Tests that independent tasks on one GPU are sorted by duration."""
    assert min_min(DagInstance.from_lists([[5], [2], [9], [2]])).start.tolist() == [4, 0, 9, 2]


@given(instance=dag_instances(max_tasks=12, max_gpus=4, memory=False))
@settings(max_examples=120, deadline=None)
def test_equals_plain_min_min(instance: DagInstance) -> None:
    """Tests that every placement and start is that of a naive implementation."""
    schedule = min_min(instance)
    assert schedule is not None
    assert (schedule.gpu.tolist(), schedule.start.tolist()) == plain_dynamic_list(instance, "min-min")


@given(instance=dag_instances(max_tasks=12, max_gpus=4))
@settings(max_examples=120, deadline=None)
def test_equals_plain_min_min_with_memory(instance: DagInstance) -> None:
    """Tests the same with memory limits, unless the naive implementation ends in a dead end."""
    schedule = min_min(instance)
    found = None if schedule is None else (schedule.gpu.tolist(), schedule.start.tolist())
    assert plain_dynamic_list(instance, "min-min") in (found, None)


def test_by_hand() -> None:
    """Tests that GPUs stay and that starts move only as far as the queue out of server a asks for."""
    instance = DagInstance.from_lists(
        [[2, None, None], [None, 3, None], [None, None, 3], [1, None, None]],
        [(0, 1, 4), (0, 2, 4), (1, 3, 0)],
        gpu_servers=["a", "b", "c"],
    )
    without, schedule = etf(instance), etf(instance, contention=Contention.NIC)
    assert without is not None
    assert schedule is not None
    assert without.start.tolist() == [0, 6, 6, 9]
    assert schedule.gpu.tolist() == without.gpu.tolist()
    assert schedule.start.tolist() == [0, 6, 10, 9]
    assert schedule.transfer_start.tolist() == [2, 6, -1]


@given(
    instance=dag_instances(max_tasks=8, max_gpus=4, memory=False, servers=True),
    rule=st.sampled_from([EARLIEST_START, SMALLEST_FINISH, LARGEST_FINISH]),
)
@settings(max_examples=120, deadline=None)
def test_tick_by_tick(instance: DagInstance, rule: int) -> None:
    """Tests that tasks in order of start, on their GPUs, start as early as sets of busy ticks allow."""
    arrays = dag_arrays(instance)
    placement = build_dynamic(arrays, rule, static_levels(arrays))
    schedule = retime(instance, placement, Contention.NIC)
    assert schedule is not None
    assert schedule.transfer_start is not None
    position = np.argsort(instance.topological_order)
    order = sorted(range(instance.num_tasks), key=lambda task: (placement.start[task], position[task]))
    expected = plain_list_schedule(instance, order, gpus=placement.gpu.tolist(), insertion=False)
    assert (schedule.gpu.tolist(), schedule.start.tolist(), schedule.transfer_start.tolist()) == expected


@given(instance=dag_instances(max_tasks=8, servers=True))
@settings(max_examples=120, deadline=None)
def test_memory_that_sufficed_suffices(instance: DagInstance) -> None:
    """Tests that a placement within the memory limits keeps its GPUs, and that one beyond them stays refused."""
    arrays = dag_arrays(instance)
    placement = build_dynamic(arrays, EARLIEST_START, static_levels(arrays))
    schedule = retime(instance, placement, Contention.NIC)
    assert (schedule is None) == (placement.overflow > 0)
    if schedule is not None:
        assert schedule.gpu.tolist() == placement.gpu.tolist()
        assert verify_dag_schedule(instance, schedule, Contention.NIC) == []


def test_nothing_changes_without_contention(example_e: DagInstance) -> None:
    """Tests that without contention the placement is the schedule, which knows no transfers."""
    arrays = dag_arrays(example_e)
    placement = build_dynamic(arrays, EARLIEST_START, static_levels(arrays))
    schedule = retime(example_e, placement, Contention.NONE)
    assert schedule is not None
    assert schedule.start.tolist() == placement.start.tolist()
    assert schedule.transfer_start is None
