"""Tests of carrying prices from wide buckets to narrow ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.dag.bounds import time_indexed as module
from formulations.dag.bounds.refuted_makespans import destructive
from formulations.dag.bounds.single_machine import mean_busy_time
from formulations.dag.bounds.time_indexed import carry_prices, time_indexed
from formulations.dag.bounds.time_indexed_lp import CompletionLp
from formulations.dag.heads_and_tails import heads_and_tails, job_path_bounds
from formulations.integer_lp import dual_bound
from formulations.multipliers import dual_ascent, highs_multipliers
from instances.dag.contention import Contention
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from instances.generators.dag.generate import generate
from instances.generators.dag.planted import planted_optimum
from tests.brute_force import optimum
from tests.brute_force_contention import optimum_with_nics
from tests.strategies import dag_instances


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


MAKESPAN, WEIGHTED = Objective.MAKESPAN, Objective.WEIGHTED_COMPLETION


def one_task_per_job(num_tasks: int, num_gpus: int, seed: int) -> DagInstance:
    """Return unrelated durations of 1 to 30 ticks, weights of 1 to 9, no edges and no releases."""
    rng = np.random.default_rng(seed)
    return DagInstance.from_lists(
        rng.integers(1, 31, size=(num_tasks, num_gpus)).tolist(),
        job_of_task=list(range(num_tasks)),
        release=[0] * num_tasks,
        weight=rng.integers(1, 10, size=num_tasks).tolist(),
    )


def test_published_example(heft_example: DagInstance) -> None:
    """Tests that the example of the HEFT paper is proved optimal: 73, where the destructive bound stays below."""
    assert destructive(heft_example, MAKESPAN) < 73
    assert time_indexed(heft_example, MAKESPAN) == 73
    assert time_indexed(heft_example, WEIGHTED) == 73  # one job of weight 1


def test_window_example(window_example: DagInstance) -> None:
    """Tests 12, the optimum, with a far GPU whose heads and tails sum to 22."""
    assert time_indexed(window_example, MAKESPAN) == 12


def test_example_with_and_without_memory(example_e: DagInstance, example_e_with_memory: DagInstance) -> None:
    """Tests that both are proved optimal at 15."""
    assert [time_indexed(instance, MAKESPAN) for instance in (example_e, example_e_with_memory)] == [15, 15]


def test_jobs_by_hand() -> None:
    """Tests a long job that a heavier one must wait for or delay: min(4 x 2 + 7, 5 + 4 x 6) = 15."""
    instance = DagInstance.from_lists([[5], [1]], job_of_task=[0, 1], release=[0, 1], weight=[1, 4])
    assert time_indexed(instance, WEIGHTED) == 15 == optimum(instance, WEIGHTED)
    assert mean_busy_time(instance, WEIGHTED) == 14


def test_degenerate_instances() -> None:
    """Tests no tasks, durations of 0, and jobs without tasks or weight."""
    empty = DagInstance.from_lists([], num_gpus=2, release=[3, 4], weight=[2, 1])
    assert (time_indexed(empty, MAKESPAN), time_indexed(empty, WEIGHTED)) == (0, 10)
    nothing = DagInstance.from_lists([[0, 0], [0, 0]], [(0, 1, 0)])
    assert (time_indexed(nothing, MAKESPAN), time_indexed(nothing, WEIGHTED)) == (0, 0)
    some = DagInstance.from_lists([[2], [7]], job_of_task=[1, 2], release=[3, 4, 0], weight=[2, 1, 0])
    assert time_indexed(some, WEIGHTED) == 2 * 3 + 6
    alone = DagInstance.from_lists([[4, 2]], weight=[5], release=[3])
    assert time_indexed(alone, WEIGHTED) == 5 * 5


def test_memory_that_cannot_be_packed_ends() -> None:
    """Tests that without any schedule the search for refuted makespans ends, whatever it returns."""
    instance = DagInstance.from_lists([[1, None]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, None])
    assert optimum(instance, MAKESPAN) is None
    assert time_indexed(instance, MAKESPAN) >= 3
    assert time_indexed(instance, WEIGHTED) >= 3


@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
@given(instance=dag_instances(max_tasks=7, max_jobs=4))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_never_above_the_optimum(objective: Objective, instance: DagInstance) -> None:
    """Tests the bound against brute force on awkward instances."""
    best = optimum(instance, objective)
    assert best is None or time_indexed(instance, objective) <= best


@pytest.mark.slow
@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
@given(instance=dag_instances(max_tasks=8, max_jobs=5))
@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_never_above_the_optimum_often(objective: Objective, instance: DagInstance) -> None:
    """Tests the same on many more."""
    best = optimum(instance, objective)
    assert best is None or time_indexed(instance, objective) <= best


@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
@given(instance=dag_instances(max_tasks=4, servers=True))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_never_above_the_optimum_under_contention(objective: Objective, instance: DagInstance) -> None:
    """Tests the bound that knows network interfaces against enumeration under their rule."""
    best = optimum_with_nics(instance, objective)
    assert best is None or time_indexed(instance, objective, Contention.NIC) <= best


@pytest.mark.parametrize("objective", FINISH_OBJECTIVES)
@given(instance=dag_instances(max_tasks=7, max_jobs=4), entries=st.sampled_from([20, 60, 200]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_wide_buckets_are_never_above_the_optimum(objective: Objective, instance: DagInstance, entries: int) -> None:
    """Tests programs so small that buckets are wide, on one grid or two, against brute force."""
    best = optimum(instance, objective)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ENTRIES", (entries // 2, entries))
        patch.setattr(module, "LP_ENTRIES", entries)
        patch.setattr(module, "ASCENT_ENTRIES", 3 * entries)
        patch.setattr(module, "ASCENT_ROUNDS", 30)
        assert best is None or time_indexed(instance, objective) <= best


@pytest.mark.parametrize("seed", range(4))
def test_one_task_per_job_is_nearly_exact(seed: int) -> None:
    """Tests at least 0.99 of the optimum of eight jobs on two GPUs."""
    instance = one_task_per_job(8, 2, seed)
    best = optimum(instance, WEIGHTED)
    assert best is not None
    assert 0.99 * best <= time_indexed(instance, WEIGHTED) <= best


def test_narrow_buckets_win_back_what_wide_ones_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests 40 jobs on 4 GPUs: prices from wide buckets alone prove far less than after the steps on narrow ones."""
    instance = one_task_per_job(40, 4, 1)
    both = time_indexed(instance, WEIGHTED)
    monkeypatch.setattr(module, "ASCENT_ENTRIES", 1_500)
    monkeypatch.setattr(module, "LP_ENTRIES", 1_500)
    assert time_indexed(instance, WEIGHTED) < 0.95 * both
    assert mean_busy_time(instance, WEIGHTED) < 0.97 * both


@pytest.mark.parametrize("seed", range(3))
def test_planted_optimum_is_reached_and_not_passed(seed: int) -> None:
    """Tests instances of 24 tasks with tight memory and links whose optimum is known from their making."""
    planted = planted_optimum(tasks=24, num_gpus=3, seed=seed, memory_tightness=1.0)
    assert time_indexed(planted.instance, MAKESPAN) == planted.optimum


@pytest.mark.parametrize(
    ("family", "optimal"),
    [
        ("erdos-renyi", 517),
        pytest.param("stencil", 657, marks=pytest.mark.slow),
        pytest.param("in-tree", 417, marks=pytest.mark.slow),
    ],
)
def test_more_than_the_destructive_bound(family: str, optimal: int) -> None:
    """Tests generated instances of 30 tasks on 4 GPUs whose optimum CP-SAT proved: nearer to it than without."""
    instance = generate(family, tasks=30, seed=1)
    bound = time_indexed(instance, MAKESPAN)
    assert destructive(instance, MAKESPAN) + optimal // 50 <= bound <= optimal


def test_large_numbers_stay_exact() -> None:
    """Tests weights and ticks whose products pass 32 bits, just below their optimum, and numbers at the limit."""
    instance = DagInstance.from_lists(
        [[87625], [21546], [72043]],
        [(0, 2, 17)],
        job_of_task=[1, 0, 2],
        release=[18474, 19692, 29751],
        weight=[7, 100000, 100000],
    )
    assert 0.99 * 28669106342 <= time_indexed(instance, WEIGHTED) <= 28669106342
    limit = DagInstance.from_lists([[2**40, 2**40]] * 2, job_of_task=[0, 1], release=[0, 0], weight=[2**18, 2**18])
    assert time_indexed(limit, WEIGHTED) == 2**59 == optimum(limit, WEIGHTED)


def test_instances_beyond_the_programs() -> None:
    """Tests that where even one bucket has too many entries the other bounds are returned."""
    instance = DagInstance.from_lists([[3] * 20] * 400, job_of_task=list(range(400)), release=[0] * 400)
    assert time_indexed(instance, WEIGHTED) == 400 * 3


def test_same_bound_again(example_e: DagInstance) -> None:
    """Tests that nothing is random."""
    instance = generate("multi-tenant", tasks=12, seed=3, jobs=3)
    assert time_indexed(instance, WEIGHTED) == time_indexed(instance, WEIGHTED)
