"""Tests of HEFT."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from heuristics.dag.heft import heft
from instances import DagInstance, DagSchedule, Objective, objective_value, verify_dag_schedule
from tests.plain_heft import plain_heft
from tests.strategies import dag_instances

many = settings(max_examples=150, deadline=None)


def as_lists(schedule: DagSchedule | None) -> tuple[list[int], list[int]] | None:
    """Return GPUs and starts, None for no schedule."""
    return None if schedule is None else (schedule.gpu.tolist(), schedule.start.tolist())


def test_example_e(example_e: DagInstance) -> None:
    """Tests placement, starts and makespan that were computed by hand."""
    schedule = heft(example_e)
    assert as_lists(schedule) == ([0, 0, 0, 1, 0], [0, 7, 4, 15, 10])
    assert objective_value(example_e, schedule, Objective.MAKESPAN) == 18


def test_published_example(heft_example: DagInstance) -> None:
    """Tests that the example of the paper takes 80 ticks, as published, with the published placement."""
    schedule = heft(heft_example)
    assert objective_value(heft_example, schedule, Objective.MAKESPAN) == 80
    assert schedule.gpu.tolist() == [2, 0, 2, 1, 2, 1, 2, 0, 1, 1]


def test_memory_is_kept_for_a_task_with_one_gpu(example_e_with_memory: DagInstance) -> None:
    """Tests that the reservation rule gives 15 where HEFT without it runs into the limit of GPU 0."""
    schedule = heft(example_e_with_memory)
    assert as_lists(schedule) == ([0, 1, 0, 1, 0], [0, 8, 4, 12, 7])
    assert objective_value(example_e_with_memory, schedule, Objective.MAKESPAN) == 15
    assert plain_heft(example_e_with_memory, reserve=False) is None


def test_dead_end_is_no_schedule() -> None:
    """Tests that without room for the last task there is no schedule, though one exists."""
    instance = DagInstance.from_lists([[9, 10], [1, 5], [1, 1]], task_memory=[2, 2, 3], gpu_memory=[4, 3])
    assert heft(instance) is None
    assert verify_dag_schedule(instance, DagSchedule(gpu=[0, 0, 1], start=[0, 9, 0])) == []


def test_insertion_uses_gaps() -> None:
    """Tests that a task starts in an idle gap that is just long enough, and after all others without insertion."""

    def starts(last_duration: int, *, insertion: bool) -> list[int]:
        instance = DagInstance.from_lists(
            [[5], [5], [last_duration]], [(0, 1, 4)], release=[0, 7], job_of_task=[0, 1, 0]
        )
        return heft(instance, insertion=insertion).start.tolist()

    assert starts(2, insertion=True) == [0, 7, 5]
    assert starts(3, insertion=True) == [0, 7, 12]
    assert starts(2, insertion=False) == [0, 7, 12]


def test_releases_delay_starts() -> None:
    """Tests that a task waits for the release of its job."""
    instance = DagInstance.from_lists([[3, 3], [3, 3]], job_of_task=[0, 1], release=[4, 9])
    assert as_lists(heft(instance)) == ([0, 0], [4, 9])


def test_no_tasks() -> None:
    """Tests that no tasks make an empty schedule."""
    assert as_lists(heft(DagInstance.from_lists([], num_gpus=2))) == ([], [])


@given(instance=dag_instances(max_tasks=12, max_gpus=4, memory=False))
@many
def test_equals_plain_heft(instance: DagInstance) -> None:
    """Tests that every placement and start is that of a naive implementation."""
    assert as_lists(heft(instance)) == plain_heft(instance)


@given(instance=dag_instances(max_tasks=12, max_gpus=4))
@many
def test_equals_plain_heft_with_memory(instance: DagInstance) -> None:
    """Tests the same with memory limits, where both find the same dead ends."""
    assert as_lists(heft(instance)) == plain_heft(instance)


def test_equals_plain_heft_on_a_large_graph() -> None:
    """Tests the same on 300 tasks and 8 GPUs of different link speeds, where queues are long."""
    rng = np.random.default_rng(11)
    n, m = 300, 8
    heads = rng.integers(1, n, size=900)
    tails = (rng.random(900) * heads).astype(int)
    edges = sorted({(int(tail), int(head)) for tail, head in zip(tails, heads, strict=True)})
    instance = DagInstance.from_lists(
        rng.integers(0, 60, size=(n, m)).tolist(),
        [(tail, head, int(rng.integers(0, 200))) for tail, head in edges],
        latency=rng.integers(0, 4, size=(m, m)).tolist(),
        bytes_per_tick=rng.choice([0.5, 3.0, 8.0], size=(m, m)).tolist(),
    )
    assert as_lists(heft(instance)) == plain_heft(instance)
