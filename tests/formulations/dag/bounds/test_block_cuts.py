"""Tests of cuts from blocks of tasks between a fork and its join."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.dag.bounds import block_cuts
from formulations.dag.bounds.block_cuts import blocks
from formulations.dag.bounds.branched_paths import PlacementSearch, branched_paths
from formulations.multipliers import ScaledProblem
from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from instances.generators.dag.generate import generate
from solvers.solve import solve
from tests.brute_force import optimum
from tests.placed_programs import spoiled
from tests.strategies import dag_instances
from tests.test_tight_bounds import tight_instance

if TYPE_CHECKING:
    from formulations.dag.bounds.block_cuts import BlockCuts

MAKESPAN = Objective.MAKESPAN


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let blocks have two tasks between the fork and the join, so that tiny instances have some."""
    monkeypatch.setattr(block_cuts, "LEAST_BETWEEN", 2)


WORK = [1, 8, 8, 8, 1]
"""Ticks of a fork, three tasks and a join, on every GPU."""

EDGES = [(0, 1, 4), (0, 2, 4), (0, 3, 4), (1, 4, 4), (2, 4, 4), (3, 4, 4)]
"""Data that take 4 ticks between the two GPUs."""


def diamond(**more: list[int]) -> DagInstance:
    """Return a fork, three tasks and a join on two equal GPUs."""
    return DagInstance.from_lists([[ticks, ticks] for ticks in WORK], edges=EDGES, **more)


def with_all_cuts(instance: DagInstance, at_most: int = 10**6) -> BlockCuts:
    """Return the cuts of all rounds."""
    cuts = PlacementSearch(instance)._begun(lambda: 1.0)
    assert cuts is not None
    while not cuts.is_done:
        cuts.solve(at_most)
        if not cuts.is_done:
            cuts.add_cuts()
    return cuts


def test_blocks_lie_between_forks_and_joins(small_blocks: None) -> None:
    """Tests a block with its fork and its join, one that ends behind all tasks, and that the largest comes first."""
    assert [block.tolist() for block in blocks(diamond())] == [[0, 1, 2, 3, 4]]
    edges = [(0, 2, 1), (1, 2, 1), (2, 3, 1), (2, 4, 1), (2, 5, 1)]
    instance = DagInstance.from_lists([[1, 1]] * 6, edges=edges)
    assert [block.tolist() for block in blocks(instance)] == [[2, 3, 4, 5], [0, 1, 2]]


def test_blocks_are_neither_small_nor_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the limits, which count what is between the fork and the join."""
    assert list(blocks(diamond())) == []
    monkeypatch.setattr(block_cuts, "LEAST_BETWEEN", 3)
    assert len(list(blocks(diamond()))) == 1
    monkeypatch.setattr(block_cuts, "MOST_BETWEEN", 2)
    assert list(blocks(diamond())) == []


def test_a_cut_that_splitting_tasks_breaks(small_blocks: None) -> None:
    """Tests three tasks that two GPUs share by halves without a transfer: of whole tasks one GPU gets two."""
    instance = diamond()
    without = PlacementSearch(instance)._begun(lambda: 1.0)
    assert without is not None
    without.solve(10**6)
    assert without.bound == 14
    cuts = with_all_cuts(instance)
    assert cuts.bound == optimum(instance, MAKESPAN) == 18
    assert len(cuts.lp.limit) > len(without.lp.limit)


def test_few_cuts_raise_the_bound_and_are_left_out(small_blocks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that where too few blocks have a cut, what these prove stays, and the search goes on without them."""
    without = PlacementSearch(diamond())._begun(lambda: 1.0)
    monkeypatch.setattr(block_cuts, "LEAST_SHARE", 2)
    cuts = with_all_cuts(diamond())
    assert cuts.bound == 18
    assert without is not None
    assert len(cuts.lp.limit) == len(without.lp.limit)
    assert branched_paths(diamond(), MAKESPAN) == 18


def test_every_placement_keeps_to_the_cuts(small_blocks: None) -> None:
    """Tests all placements of a block with tight memory: none is said to take longer than it does."""
    instance = diamond(task_memory=[1, 2, 2, 1, 1], gpu_memory=[4, 4])
    search = PlacementSearch(instance)
    search._cuts = with_all_cuts(instance)
    assert search._make(lambda: 1.0)
    basis = search._program.solve(instance.allowed).basis
    seen = 0
    for gpu in product(range(2), repeat=5):
        on = np.eye(2, dtype=np.bool_)[list(gpu)]
        if (instance.task_memory @ on > instance.gpu_memory).any():
            continue
        seen += 1
        durations = [
            [ticks if k == chosen else None for k in range(2)] for ticks, chosen in zip(WORK, gpu, strict=True)
        ]
        placed = DagInstance.from_lists(durations, edges=EDGES)
        bound, _ = search._program.proved(on, search._program.solve(on, basis).multipliers, None)
        assert bound <= optimum(placed, MAKESPAN), gpu
    assert seen > 4


def test_cuts_raise_the_bound_round_by_round() -> None:
    """Tests layers of a transformer that do not fit together: no round proves less, and the last one more."""
    instance = generate("transformer", tasks=40, seed=1, cost=CostModel(memory_tightness=0.9))
    cuts, bounds = PlacementSearch(instance)._begun(lambda: 1.0), list[int]()
    assert cuts is not None
    while not cuts.is_done:
        cuts.solve(10**9)
        bounds.append(cuts.bound)
        if not cuts.is_done:
            cuts.add_cuts()
    assert bounds == sorted(bounds)
    assert bounds[-1] > bounds[0]


@given(instance=dag_instances(max_tasks=6), above=st.integers(-3, 1))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
def test_bound_is_never_above_the_optimum(small_blocks: None, instance: DagInstance, above: int) -> None:
    """Tests against brute force, also with a schedule that is known."""
    best = optimum(instance, MAKESPAN)
    if best is None:
        return
    assert branched_paths(instance, MAKESPAN) <= best
    search, known = PlacementSearch(instance), max(0, best + above)
    paths = search.bound
    search.run(at_most=known)
    assert search.bound <= max(known, paths)
    search = PlacementSearch(instance)
    search.run(at_most=best + 1)
    assert search.bound <= best + 1


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(200, 3_000, 200))]
)
def test_bound_is_never_above_the_optimum_where_memory_is_tight(small_blocks: None, first: int) -> None:
    """Tests instances with tight memory, forbidden GPUs and equal GPUs."""
    for number in range(first, first + 200):
        instance = tight_instance(number)
        best = optimum(instance, MAKESPAN)
        assert best is not None
        assert branched_paths(instance, MAKESPAN) <= best, number


def test_a_bound_that_is_rounded_up_once_too_often(small_blocks: None) -> None:
    """Tests a graph on which cuts with values rounded up, not down, added a tick to the optimum."""
    cost, cluster = CostModel(memory_tightness=0.6), parse_cluster("mixed-2")
    instance = generate("series-parallel", tasks=13, seed=142987, cluster=cluster, cost=cost)
    best = solve(instance, "cp-sat", threads=1, seed=1)
    assert best.objective == best.lower_bound
    assert branched_paths(instance, MAKESPAN) <= best.objective


def test_wrong_answers_of_the_solver_never_raise_the_bound(small_blocks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests multipliers that are random numbers: any prices make valid cuts, and the integers decide what is proved."""
    monkeypatch.setattr(ScaledProblem, "multipliers", spoiled(ScaledProblem.multipliers))
    monkeypatch.setattr(block_cuts, "LEAST_BREACH", -(10**9))
    for number in range(40):
        instance = tight_instance(number)
        search = PlacementSearch(instance)
        search.run(most_programs=30)
        assert search.bound <= optimum(instance, MAKESPAN), number


def test_gpus_that_can_be_swapped_have_equal_prices(small_blocks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that random multipliers do not tell equal GPUs apart, because the search over a block does not either."""
    monkeypatch.setattr(ScaledProblem, "multipliers", spoiled(ScaledProblem.multipliers))
    monkeypatch.setattr(block_cuts, "LEAST_BREACH", -(10**9))
    cuts = PlacementSearch(diamond())._begun(lambda: 1.0)
    assert cuts is not None
    before = len(cuts.lp.limit)
    for _ in range(3):
        cuts.solve(10**6)
        cuts.add_cuts()
    prices = cuts.lp.matrix[before:].toarray()[:, :10]
    assert len(prices) > 0
    assert prices.any()
    assert (prices[:, 0::2] == prices[:, 1::2]).all()


@pytest.mark.parametrize("calls", [2, 5, 20, 60, 200])
def test_time_that_runs_out_anywhere_leaves_a_bound(small_blocks: None, calls: int) -> None:
    """Tests a limit that strikes within rounds, and that the search then goes on to its end."""
    search, left = PlacementSearch(diamond()), iter([1.0] * calls)
    search.run(seconds_left=lambda: next(left, 0.0))
    assert search.bound <= 18
    search.run()
    assert search.bound == 18


def test_same_result_again(small_blocks: None) -> None:
    """Tests that nothing is left to chance."""
    instance = generate("transformer", tasks=30, seed=1, cost=CostModel(memory_tightness=0.9))
    first, again = (with_all_cuts(instance) for _ in range(2))
    assert first.bound == again.bound
    assert first.lp.limit.tolist() == again.lp.limit.tolist()
