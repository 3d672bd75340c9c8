"""Tests of carrying prices from wide buckets to narrow ones."""

from __future__ import annotations

import numpy as np
import pytest

from formulations.dag.bounds.carry_prices import carry_prices
from formulations.dag.bounds.completion_lp import CompletionLp
from formulations.dag.bounds.dual_ascent import dual_ascent
from formulations.dag.bounds.dual_bound import dual_bound
from formulations.dag.bounds.highs_multipliers import highs_multipliers
from formulations.dag.bounds.path_bound import job_path_bounds
from formulations.dag.heads_and_tails import heads_and_tails
from instances import DagInstance


@pytest.fixture(scope="module")
def two_jobs() -> DagInstance:
    """Return two jobs of three tasks that compete for two GPUs, one with little memory."""
    return DagInstance.from_lists(
        [[8, 9], [7, 12], [6, 5], [9, 9], [4, 8], [11, 6]],
        [(0, 1, 6), (1, 2, 9), (3, 4, 3), (3, 5, 7)],
        latency=1,
        task_memory=[1] * 6,
        gpu_memory=[4, None],
        job_of_task=[0, 0, 0, 1, 1, 1],
        release=[0, 3],
        weight=[2, 3],
    )


def program_of(instance: DagInstance, width: int) -> CompletionLp:
    """Return the program with room for everything."""
    around = heads_and_tails(instance)
    return CompletionLp(instance, around, job_path_bounds(instance, around), end=60, width=width)


def test_same_grid_same_prices(two_jobs: DagInstance) -> None:
    """Tests that nothing changes between grids of the same width."""
    program = program_of(two_jobs, 4)
    prices = np.arange(len(program.lp.limit), dtype=np.float64)
    assert carry_prices(program, prices, program_of(two_jobs, 4)).tolist() == prices.tolist()


def test_prices_by_hand(two_jobs: DagInstance) -> None:
    """Tests buckets of 4 ticks on ticks: prices of time a quarter, smooth; of transfers at the ends; others kept."""
    wide, narrow = program_of(two_jobs, 4), program_of(two_jobs, 1)
    prices = np.zeros(len(wide.lp.limit))
    prices[wide.memory[0]] = 5.0
    prices[wide.job_rows[1][0]] = [1.0, 0.5, 0.25]
    block = wide.capacity[1]
    prices[block.rows] = 8.0 * (block.buckets == 2)
    edge = wide.transfer[0, 0]
    prices[edge.rows[1]] = 3.0
    carried = carry_prices(wide, prices, narrow)
    assert carried[narrow.memory[0]] == 5.0
    assert carried[narrow.job_rows[1][0]].tolist() == [1.0, 0.5, 0.25]
    ours = narrow.capacity[1]
    smooth = dict(zip(ours.buckets.tolist(), carried[ours.rows].tolist(), strict=True))
    assert [smooth[tick] for tick in range(5, 14)] == [0, 0.25, 0.75, 1.25, 1.75, 1.75, 1.25, 0.75, 0.25]
    assert carried[narrow.transfer[0, 0].rows].sum() == 3.0
    (row,) = np.flatnonzero(carried[narrow.transfer[0, 0].rows])
    assert narrow.transfer[0, 0].buckets[row] == (edge.buckets[1] + 1) * 4 - 1


def test_carried_prices_are_worth_their_steps(two_jobs: DagInstance) -> None:
    """Tests that prices from buckets of 4 ticks lead, in a few steps on ticks, to more than they prove themselves."""
    wide, narrow = program_of(two_jobs, 4), program_of(two_jobs, 1)
    prices = highs_multipliers(wide.lp)
    assert prices is not None
    carried = carry_prices(wide, prices, narrow)
    improved, from_nothing = (
        dual_bound(narrow.lp, dual_ascent(narrow.lp, start, rounds=30, project=narrow.affordable))
        for start in (carried, np.zeros(len(carried)))
    )
    best = highs_multipliers(narrow.lp)
    assert best is not None
    assert from_nothing < improved
    assert dual_bound(wide.lp, prices) < improved <= dual_bound(narrow.lp, best)
