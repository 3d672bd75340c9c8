"""Tests of ETF."""

from __future__ import annotations

from hypothesis import given, settings

from heuristics.dag.etf import etf
from instances import DagInstance
from tests.plain_dynamic_lists import plain_dynamic_list
from tests.strategies import dag_instances


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
    """Tests the same with memory limits, where both find the same dead ends."""
    schedule = etf(instance)
    found = None if schedule is None else (schedule.gpu.tolist(), schedule.start.tolist())
    assert found == plain_dynamic_list(instance, "etf")
