"""Tests of the time-indexed linear program for weighted completion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.dag.bounds.loads import window_load_lp
from formulations.dag.bounds.time_indexed_lp import CompletionLp, TimeIndexedLp, width_for
from formulations.dag.heads_and_tails import HeadsAndTails, heads_and_tails, job_path_bounds
from formulations.dag.time_grid import time_grid
from formulations.integer_lp import IntegerLp, dual_bound
from formulations.multipliers import highs_multipliers
from heuristics.dag.list_scheduling import heft, random_placement
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, finish_times, objective_value
from tests.brute_force import optimum
from tests.formulations.dag.bounds.time_indexed_points import overrun, point_of
from tests.strategies import dag_instances

WEIGHTED = Objective.WEIGHTED_COMPLETION


def program_of(instance: DagInstance, end: int, width: int) -> CompletionLp:
    """Return the program of an instance, with path bounds of jobs."""
    around = heads_and_tails(instance)
    return CompletionLp(instance, around, job_path_bounds(instance, around), end=end, width=width)


def proved(program: CompletionLp) -> int:
    """Return what the multipliers of HiGHS prove."""
    multipliers = highs_multipliers(program.lp)
    assert multipliers is not None
    return program.constant + dual_bound(program.lp, multipliers)


@pytest.fixture(scope="module")
def smith() -> DagInstance:
    """Return three jobs of one task on one GPU; by weight over duration 3 x 1 + 1 x 3 + 1 x 6 = 12."""
    return DagInstance.from_lists(
        [[2], [3], [1]], job_of_task=[0, 1, 2], release=[0, 0, 0], weight=[1, 1, 3], name="smith"
    )


def test_costs_by_hand(smith: DagInstance) -> None:
    """Tests that a start in tick t costs w (t + p), and one after the grid of ticks 0..3 costs w (4 + p)."""
    program = program_of(smith, end=3, width=1)
    chains = [program.lp.domain.step_costs(program.lp.cost)[first : first + 5].tolist() for first in (0, 5, 10)]
    assert chains == [[2, 3, 4, 5, 6], [3, 4, 5, 6, 7], [3, 6, 9, 12, 15]]
    assert program.job_rows == []
    assert program.constant == 0


def test_wide_buckets_by_hand(smith: DagInstance) -> None:
    """Tests buckets of 2 ticks: w (2 t + p), and after the grid, which ends with tick 3, w (4 + p)."""
    program = program_of(smith, end=3, width=2)
    chains = [program.lp.domain.step_costs(program.lp.cost)[first : first + 3].tolist() for first in (0, 3, 6)]
    assert chains == [[2, 4, 6], [3, 5, 7], [3, 9, 15]]


def test_smiths_rule_is_proved(smith: DagInstance) -> None:
    """Tests that the relaxation in ticks proves the optimum, and that a grid that ends too early proves less."""
    assert [proved(program_of(smith, end=end, width=1)) for end in (6, 3, 0)] == [12, 12, 10]


def test_jobs_of_several_tasks_by_hand() -> None:
    """Tests the rows of a job of two tasks, and the constant of a job without any."""
    instance = DagInstance.from_lists([[2], [1]], [(0, 1, 0)], job_of_task=[0, 0], release=[1, 9, 5], weight=[2, 3, 0])
    program = program_of(instance, end=3, width=1)
    assert program.constant == 27
    ((rows, weight),) = program.job_rows
    assert weight == 2
    # Task 0 starts in 1..3 and 1 tick follows: 4, 5, 6, late 7. Task 1 starts in 3: 4, late 5.
    assert program.lp.matrix[rows].toarray().tolist() == [[-1, -1, 6, 7, 0, 0, -1], [0, 0, 0, 0, 4, 5, -1]]
    assert (program.lp.domain.lower.tolist(), program.lp.domain.upper.tolist()) == ([4], [7])
    assert program.lp.cost.tolist() == [0, 0, 0, 0, 0, 0, 2]
    assert proved(program) == 27 + 2 * 4


def test_prices_that_a_job_can_afford() -> None:
    """Tests that prices of the rows of a job sum to at most its weight; others stay as they are."""
    instance = DagInstance.from_lists([[2], [1]], job_of_task=[0, 0], weight=[3])
    program = program_of(instance, end=3, width=1)
    ((rows, _),) = program.job_rows
    prices = np.full(len(program.lp.limit), 6.0)
    after = program.affordable(prices)
    assert after[rows].tolist() == [1.5, 1.5]
    assert np.delete(after, rows).tolist() == np.delete(prices, rows).tolist()
    assert prices[rows].tolist() == [6.0, 6.0]
    cheap = np.full(len(prices), 0.5)
    assert program.affordable(cheap).tolist() == cheap.tolist()


def test_release_within_the_last_bucket() -> None:
    """Tests that a task released after the last tick, but within its bucket, counts as there and not as late."""
    instance = DagInstance.from_lists([[0], [2]], job_of_task=[0, 1], release=[1, 0])
    program = program_of(instance, end=0, width=5)
    assert program.grid.possible.all()
    assert proved(program) == 1 + 2


@pytest.mark.parametrize("width", [1, 3])
@given(instance=dag_instances(max_tasks=6, max_jobs=4), end=st.integers(0, 40), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_every_schedule_is_a_point_that_costs_no_more(width: int, instance: DagInstance, end: int, seed: int) -> None:
    """Tests that schedules satisfy all rows with their own completion times, whatever the end of the grid."""
    for schedule in (heft(instance), random_placement(instance, np.random.default_rng(seed))):
        if schedule is not None:
            program = program_of(instance, end=end, width=width)
            point = point_of(program, schedule)
            for rows, _ in program.job_rows:
                column = np.flatnonzero(program.lp.matrix[rows[0]].toarray().reshape(-1) < 0)[-1]
                point[column] = max(0, int((program.lp.matrix[rows] @ point).max()))
                box = column - program.lp.domain.num_steps
                point[column] = max(point[column], program.lp.domain.lower[box])
                assert point[column] <= program.lp.domain.upper[box]
            assert overrun(program.lp, point) <= 0
            assert program.constant + program.lp.cost @ point <= objective_value(instance, schedule, WEIGHTED)


@pytest.mark.parametrize("width", [1, 2, 5])
@given(instance=dag_instances(max_tasks=6, max_jobs=4), end=st.integers(0, 40))
@settings(max_examples=25, deadline=None)
def test_never_above_the_optimum(width: int, instance: DagInstance, end: int) -> None:
    """Tests the proved value against brute force, for any end of the grid."""
    best = optimum(instance, WEIGHTED)
    if heads_and_tails(instance).allowed.any(axis=1).all() and best is not None:
        assert proved(program_of(instance, end=end, width=width)) <= best


def program_of_time_indexed_lp(
    instance: DagInstance, around: HeadsAndTails, makespan: int, width: int
) -> TimeIndexedLp:
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
    program = program_of_time_indexed_lp(two_tasks, around, 7, 1)
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
            program = program_of_time_indexed_lp(instance, around, makespan, width)
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
    program = program_of_time_indexed_lp(example_e, heads_and_tails(example_e), 40, 1)
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
