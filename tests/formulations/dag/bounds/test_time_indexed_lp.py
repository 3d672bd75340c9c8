"""Tests of the time-indexed linear program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.dag.bounds.dual_bound import IntegerLp, dual_bound
from formulations.dag.bounds.highs_multipliers import highs_multipliers
from formulations.dag.bounds.time_indexed_lp import TimeIndexedLp, width_for
from formulations.dag.bounds.window_load import window_load_lp
from formulations.dag.heads_and_tails import HeadsAndTails, heads_and_tails
from formulations.dag.time_grid import time_grid
from heuristics.dag.heft import heft
from heuristics.dag.random_placement import random_placement
from instances import DagInstance
from instances.objective import finish_times
from tests.formulations.dag.bounds.time_indexed_points import overrun, point_of
from tests.strategies import dag_instances


def program_of(instance: DagInstance, around: HeadsAndTails, makespan: int, width: int) -> TimeIndexedLp:
    """Return the program for schedules of at most this makespan."""
    latest = makespan - around.tails - instance.durations
    grid = time_grid(instance, earliest=around.heads, latest=latest, allowed=around.allowed, width=width)
    return TimeIndexedLp(instance, grid)


def lateness(program: TimeIndexedLp) -> IntegerLp:
    """Return the program that minimises the sum of the late columns."""
    cost = np.zeros(program.num_columns, dtype=np.int64)
    cost[program.late] = 1
    return program.finish(cost)


@pytest.fixture
def two_tasks() -> DagInstance:
    """Return A before B on two GPUs; A takes 2 ticks and B 1, the transfer 3."""
    return DagInstance.from_lists([[2, 2], [1, None]], [(0, 1, 3)], task_memory=[5, 6], gpu_memory=[10, None])


def test_rows_by_hand(two_tasks: DagInstance) -> None:
    """Tests columns and rows within a makespan of 7: as 5 + 6 bytes do not fit on GPU 0, A starts on GPU 1 in 0..1."""
    around = heads_and_tails(two_tasks, makespan_at_most=7)
    program = program_of(two_tasks, around, 7, 1)
    assert program.offset.tolist() == [[-1, 0], [3, -1]]
    assert program.grid.first.tolist() == [[0, 0], [5, 0]]
    assert program.late.tolist() == [2, 5]
    lp = lateness(program)
    rows = lp.matrix.toarray().tolist()
    columns = ["A0", "A1", "A late", "B5", "B6", "B late"]
    named = [
        ({name: entry for name, entry in zip(columns, row, strict=True) if entry}, int(limit))
        for row, limit in zip(rows, lp.limit, strict=True)
    ]
    assert named == [
        ({"B5": 1}, 1),  # capacity of GPU 0
        ({"B6": 1, "B5": -1}, 1),
        ({"B6": 6}, 10),  # memory
        ({"A0": 1}, 1),  # capacity of GPU 1
        ({"A1": 1}, 1),
        ({"B5": 1, "A0": -1}, 0),  # B by 5 needs A by 0
        ({"B6": 1, "A1": -1}, 0),
    ]


def test_earliest_makespan_is_refuted_exactly(two_tasks: DagInstance) -> None:
    """Tests that A from 0 and B by 5 are possible, and that B by 4 is not, as A and the transfer take 5."""
    around = heads_and_tails(two_tasks)
    start = np.array([[0, 0], [5, 0]])
    for last, expected in ((5, 0), (4, 1)):
        latest = np.array([[-1, 3], [last, -1]])
        earliest = np.minimum(start, latest)
        grid = time_grid(two_tasks, earliest=earliest, latest=latest, allowed=around.allowed, width=1)
        lp = lateness(TimeIndexedLp(two_tasks, grid))
        multipliers = highs_multipliers(lp)
        assert multipliers is not None
        assert dual_bound(lp, multipliers) == expected


@pytest.mark.parametrize("width", [1, 2, 3, 7])
@given(instance=dag_instances(max_tasks=7), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_every_schedule_is_a_point(width: int, instance: DagInstance, seed: int) -> None:
    """Tests that schedules of HEFT and at random satisfy all rows of their own makespan, load rows included."""
    for schedule in (heft(instance), random_placement(instance, np.random.default_rng(seed))):
        if schedule is not None:
            makespan = int(finish_times(instance, schedule).max())
            around = heads_and_tails(instance, makespan_at_most=makespan)
            program = program_of(instance, around, makespan, width)
            program.add_loads(window_load_lp(instance, around, makespan, deadline=makespan)[1], makespan)
            point = point_of(program, schedule)
            assert not point[program.late].any()
            assert overrun(lateness(program), point) <= 0


@pytest.mark.parametrize("width", [1, 3])
@given(instance=dag_instances(max_tasks=7), end=st.integers(0, 12))
@settings(max_examples=30, deadline=None)
def test_what_does_not_fit_is_late(width: int, instance: DagInstance, end: int) -> None:
    """Tests that schedules are points, with late columns, of grids that end too early for them."""
    schedule = heft(instance)
    if schedule is not None:
        around = heads_and_tails(instance)
        latest = np.full(instance.durations.shape, end)
        grid = time_grid(instance, earliest=around.heads, latest=latest, allowed=around.allowed, width=width)
        program = TimeIndexedLp(instance, grid)
        assert overrun(lateness(program), point_of(program, schedule)) <= 0


def test_wrong_schedules_are_no_points(example_e: DagInstance) -> None:
    """Tests that tasks that overlap, or start before their data is there, violate a row."""
    schedule = heft(example_e)
    assert schedule is not None
    program = program_of(example_e, heads_and_tails(example_e), 40, 1)
    lp, point = lateness(program), point_of(program, schedule)
    assert overrun(lp, point) <= 0
    broken = 0
    for task, (k, start) in enumerate(zip(schedule.gpu.tolist(), schedule.start.tolist(), strict=True)):
        earlier = point.copy()
        column = program.offset[task, k] + start - 1 - program.grid.first[task, k]
        if start > program.grid.first[task, k]:
            earlier[column] = 1
            broken += overrun(lp, earlier) > 0
    assert broken >= 3


def test_width_for_a_number_of_entries(example_e: DagInstance) -> None:
    """Tests that the width is the least one that keeps the limit, and that there may be none."""
    around = heads_and_tails(example_e)
    latest = np.full(example_e.durations.shape, 99)
    weights = np.array([2, 5, 5, 8, 5])  # 2, and 3 per edge into the task

    def entries(width: int) -> int:
        starts = np.where(around.allowed, 99 // width - around.heads // width + 1, 0).sum(axis=1)
        return int(starts @ weights)

    for max_entries in (10_000, 2_000, 500, 100):
        width = width_for(example_e, around.heads, latest, around.allowed, max_entries=max_entries)
        assert width is not None
        assert entries(width) <= max_entries
        assert width == 1 or entries(width - 1) > max_entries
    assert width_for(example_e, around.heads, latest, around.allowed, max_entries=10) is None
