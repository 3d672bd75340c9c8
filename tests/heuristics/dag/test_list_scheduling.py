"""Tests of the list schedulers, and of the rules by which keys choose GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import (
    CYCLIC,
    DIRECT,
    RANKED,
    UNIFORM,
    _choose,
    cpop,
    heft,
    peft,
    random_placement,
    round_robin,
)
from heuristics.dag.priorities import optimistic_costs
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from tests.plain_heft import plain_heft
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from instances.dag.schedule import DagSchedule


def test_published_example(heft_example: DagInstance) -> None:
    """Tests that the example of the paper takes 86 ticks, as published, its critical path on the second machine."""
    schedule = cpop(heft_example)
    assert objective_value(heft_example, schedule, Objective.MAKESPAN) == 86
    assert schedule.gpu[[0, 1, 8, 9]].tolist() == [1, 1, 1, 1]


def test_example_e(example_e: DagInstance) -> None:
    """Tests the schedule computed by hand: path 0, 2, 3 has 15 ticks of work on GPU 0 and 16 on GPU 1."""
    schedule = cpop(example_e)
    assert schedule.gpu.tolist() == [0, 0, 0, 0, 0]
    assert schedule.start.tolist() == [0, 7, 4, 10, 18]
    assert objective_value(example_e, schedule, Objective.MAKESPAN) == 24


def test_path_takes_a_gpu_that_may_run_most_of_it() -> None:
    """Tests that the number of allowed tasks counts before the work, and that the rest finishes earliest."""
    instance = DagInstance.from_lists([[9, 1], [9, None], [9, 1]], [(0, 1, 0), (1, 2, 0)])
    schedule = cpop(instance)
    assert schedule.gpu.tolist() == [0, 0, 0]
    other = DagInstance.from_lists([[9, 8], [9, None], [None, 8]], [(0, 1, 0), (1, 2, 0)])
    assert cpop(other).gpu.tolist() == [1, 0, 1]  # two tasks each; 16 ticks of work on GPU 1, 18 on GPU 0


def test_full_gpu_releases_the_path() -> None:
    """Tests that a task of the path for which the pinned GPU has no memory left goes elsewhere."""
    instance = DagInstance.from_lists(
        [[2, 9], [2, 9], [2, 9]], [(0, 1, 0), (1, 2, 0)], task_memory=[3, 3, 3], gpu_memory=[6, None]
    )
    schedule = cpop(instance)
    assert schedule.gpu.tolist() == [0, 0, 1]
    assert schedule.start.tolist() == [0, 2, 4]


@pytest.mark.parametrize("seed", range(6))
def test_cpop_equals_a_plain_reading_of_the_paper(seed: int) -> None:
    """Tests on random graphs that all placements and starts are those of a naive CPOP with its path on one GPU."""
    rng = np.random.default_rng([86, seed])
    n, m = 30, 4
    edges = [
        (tail, head, int(rng.integers(0, 300)))
        for head in range(1, n)
        for tail in sorted(rng.choice(head, size=min(head, int(rng.integers(1, 4))), replace=False).tolist())
    ]
    instance = DagInstance.from_lists(rng.integers(1, 1000, size=(n, m)).tolist(), edges, latency=1, bytes_per_tick=1.0)
    assert as_lists(cpop(instance)) == plain_heft(instance, is_cpop=True)


def test_no_tasks() -> None:
    """Tests that no tasks make an empty schedule."""
    assert cpop(DagInstance.from_lists([], num_gpus=2)).gpu.tolist() == []


many = settings(max_examples=150, deadline=None)


def as_lists(schedule: DagSchedule | None) -> tuple[list[int], list[int]] | None:
    """Return GPUs and starts, None for no schedule."""
    return None if schedule is None else (schedule.gpu.tolist(), schedule.start.tolist())


def test_example_e_heft(example_e: DagInstance) -> None:
    """Tests placement, starts and makespan that were computed by hand."""
    schedule = heft(example_e)
    assert as_lists(schedule) == ([0, 0, 0, 1, 0], [0, 7, 4, 15, 10])
    assert objective_value(example_e, schedule, Objective.MAKESPAN) == 18


def test_published_example_heft(heft_example: DagInstance) -> None:
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


def test_dead_end_is_repaired() -> None:
    """Tests that where the last task finds no memory left, the next try keeps its GPU free."""
    instance = DagInstance.from_lists([[9, 10], [1, 5], [1, 1]], task_memory=[2, 2, 3], gpu_memory=[4, 3])
    assert plain_heft(instance) is None
    assert as_lists(heft(instance)) == ([0, 0, 1], [0, 9, 0])


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


def test_no_tasks_heft() -> None:
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
    """Tests the same with memory limits, unless the naive implementation ends in a dead end."""
    assert plain_heft(instance) in (as_lists(heft(instance)), None)


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


def test_table_and_schedule_of_example_e(example_e: DagInstance) -> None:
    """Tests table and schedule computed by hand: the table sends task 1 away, and PEFT finds the optimum."""
    table = optimistic_costs(dag_arrays(example_e))
    assert table.tolist() == [[11, 13], [8, 3], [8, 8], [0, 0], [0, 0]]
    schedule = peft(example_e)
    assert schedule.gpu.tolist() == [0, 1, 0, 1, 0]
    assert schedule.start.tolist() == [0, 8, 4, 12, 7]
    assert objective_value(example_e, schedule, Objective.MAKESPAN) == 15


def test_published_heft_example(heft_example: DagInstance) -> None:
    """Tests costs at the end of the graph by hand (task 9 takes 21, 7, 16 ticks), and the first steps that follow."""
    table = optimistic_costs(dag_arrays(heft_example))
    assert table[9].tolist() == [0, 0, 0]
    assert table[8].tolist() == [7 + 13, 7, 16]
    assert table[6].tolist() == [21, 7, 16]
    schedule = peft(heft_example)
    assert (schedule.gpu[0], schedule.start[0]) == (1, 0)  # 14 + 48, 16 + 38, 9 + 53
    assert (schedule.gpu[3], schedule.start[3]) == (1, 16)  # highest mean, 31; 38 + 38, 24 + 19, 42 + 36
    assert objective_value(heft_example, schedule, Objective.MAKESPAN) == 85


def test_cost_beats_earliest_finish() -> None:
    """Tests that a slower GPU is taken where the table says that what follows is much faster there."""
    instance = DagInstance.from_lists([[4, 5], [9, 1]], [(0, 1, 20)])
    schedule = peft(instance)
    assert schedule.gpu.tolist() == [1, 1]
    assert schedule.start.tolist() == [0, 5]


@pytest.mark.parametrize("durations", [[], [[3, 2]]])
def test_tiny(durations: list[list[int]]) -> None:
    """Tests that no task and one task are scheduled on the fastest GPU at 0."""
    schedule = peft(DagInstance.from_lists(durations, num_gpus=2))
    assert schedule.gpu.tolist() == [1] * len(durations)
    assert schedule.start.tolist() == [0] * len(durations)


def test_allowed_gpus_are_equally_likely() -> None:
    """Tests that counts per GPU stay within five standard deviations, and that forbidden GPUs are never taken."""
    free = DagInstance.from_lists([[1, 1, 1]] * 3000)
    counts = np.bincount(random_placement(free, np.random.default_rng(0)).gpu, minlength=3)
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(3000 * (1 / 3) * (2 / 3))
    barred = DagInstance.from_lists([[1, None, 1]] * 2000)
    counts = np.bincount(random_placement(barred, np.random.default_rng(0)).gpu, minlength=3)
    assert counts[1] == 0
    assert abs(counts[0] - 1000) < 5 * np.sqrt(2000 * 0.25)


def test_seed_decides() -> None:
    """Tests that one seed gives one placement and another seed another."""
    instance = DagInstance.from_lists([[1, 1]] * 50)
    first, same, other = (random_placement(instance, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first.gpu.tolist() == same.gpu.tolist() != other.gpu.tolist()


def test_tasks_start_as_early_as_they_can(example_e: DagInstance) -> None:
    """Tests that every schedule is right and no task can start one tick earlier."""
    for seed in range(20):
        schedule = random_placement(example_e, np.random.default_rng(seed))
        assert verify_dag_schedule(example_e, schedule) == []
        assert schedule.start[0] == 0
        assert schedule.gpu[4] == 0


def test_full_gpu_is_never_taken() -> None:
    """Tests that with room for one task on GPU 0 every draw keeps the limit."""
    instance = DagInstance.from_lists([[1, 1]] * 3, task_memory=[2] * 3, gpu_memory=[2, None])
    on_first = {int((random_placement(instance, np.random.default_rng(seed)).gpu == 0).sum()) for seed in range(30)}
    assert on_first == {0, 1}


def test_example_e_round_robin(example_e: DagInstance) -> None:
    """Tests that tasks in topological order go to GPUs 0, 1, 0, 1, 0 and start as early as they can."""
    schedule = round_robin(example_e)
    assert schedule.gpu.tolist() == [0, 1, 0, 1, 0]
    assert schedule.start.tolist() == [0, 8, 4, 12, 7]


def test_forbidden_gpus_are_skipped() -> None:
    """Tests that the next GPU is the next one that may run the task, counted from the task before."""
    instance = DagInstance.from_lists([[1, 1, 1], [1, None, 1], [1, 1, 1], [None, None, 1], [None, 1, None]])
    assert round_robin(instance).gpu.tolist() == [0, 2, 0, 2, 1]


def test_full_gpus_are_skipped() -> None:
    """Tests that a GPU without room is passed over and that a task that fits nowhere makes no schedule."""
    fields = {"task_memory": [2, 2, 2, 2], "gpu_memory": [2, None]}
    assert round_robin(DagInstance.from_lists([[1, 1]] * 4, **fields)).gpu.tolist() == [0, 1, 1, 1]
    tight = DagInstance.from_lists([[1, 1]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3])
    assert round_robin(tight) is None


def test_order_is_topological_not_by_index() -> None:
    """Tests that a task with a later predecessor waits its turn."""
    assert round_robin(DagInstance.from_lists([[1, 1]] * 3, [(2, 0, 0)])).gpu.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("rule", "key", "expected"),
    [
        (RANKED, 0.0, 3),  # the order by score is 3, 0, 2
        (RANKED, 0.57, 3),  # floor(3 * 0.57^2) = 0
        (RANKED, 0.58, 0),
        (RANKED, 0.82, 2),
        (RANKED, 1.0, 2),
        (UNIFORM, 0.33, 0),  # those that fit are 0, 2, 3
        (UNIFORM, 0.34, 2),
        (UNIFORM, 1.0, 3),
        (DIRECT, 0.25, 3),  # GPU 1 is allowed and does not fit: the best
        (DIRECT, 0.5, 2),
        (DIRECT, 1.0, 3),
        (CYCLIC, 0.0, 2),  # after GPU 0 comes 1, which does not fit
    ],
)
def test_a_key_chooses_a_gpu(rule: int, key: float, expected: int) -> None:
    """Tests the first, the last and a middle GPU of each rule, of four GPUs of which one does not fit."""
    fits, scores = np.array([True, False, True, True]), np.array([5.0, np.inf, 7.0, 4.0])
    assert _choose.py_func(rule, key, 0, 3, np.ones(4, dtype=bool), fits, scores) == expected
