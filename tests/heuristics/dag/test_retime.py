"""Tests of schedules that are made to keep the rule of contention."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.dynamic_list_scheduler import (
    EARLIEST_START,
    LARGEST_FINISH,
    SMALLEST_FINISH,
    build_dynamic,
)
from heuristics.dag.etf import etf
from heuristics.dag.ranks import static_levels
from heuristics.dag.retime import retime
from instances import Contention, DagInstance, verify_dag_schedule
from tests.plain_contention import plain_list_schedule
from tests.strategies import dag_instances


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
