"""Tests of the time-indexed linear program for weighted completion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.dag.bounds.completion_lp import CompletionLp
from formulations.dag.bounds.dual_bound import dual_bound
from formulations.dag.bounds.highs_multipliers import highs_multipliers
from formulations.dag.bounds.path_bound import job_path_bounds
from formulations.dag.heads_and_tails import heads_and_tails
from heuristics.dag.heft import heft
from heuristics.dag.random_placement import random_placement
from instances import DagInstance, Objective, objective_value
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
