"""Tests of the bounds from released memory: values of the reference, and against brute force."""

from __future__ import annotations

import pytest

from formulations.dag.bounds.live_memory import MAX_OPTIONS, PlacedBounds, gpu_load, memory_chain, ramp
from heuristics.dag.pipeline_schedules import zb_h1
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.pipeline import pipeline_instance
from solvers.backends.one_stage import one_stage
from tests.brute_force_buffers import buffered_optimum
from tests.buffered_instances import random_buffered, small_pipeline

MAKESPAN, SPAN = Objective.MAKESPAN, Objective.STAGE_SPAN
BOUNDS = (gpu_load, ramp, memory_chain)


def equal(p: int, m: int, costs: tuple[int, int, int], limit: int | None, c: int = 0) -> DagInstance:
    """Return p equal stages."""
    f, b, w = ([each] * p for each in costs)
    return pipeline_instance(micro_batches=m, forward=f, backward=b, weight=w, transfer=c, limits=limit)


@pytest.mark.parametrize(
    ("size", "costs", "limit", "transfer", "values"),
    [
        ((4, 12), (5, 6, 4), 8, 0, (201, 201)),
        ((4, 12), (5, 6, 4), 10, 0, (195, 193)),
        ((4, 12), (5, 6, 4), 12, 0, (195, 188)),
        ((4, 12), (5, 6, 4), 14, 0, (195, 183)),
        ((4, 12), (5, 6, 4), 8, 1, (213, 213)),
        ((4, 12), (5, 6, 4), 14, 1, (198, 189)),
        ((8, 16), (5, 6, 4), 14, 0, (304, 304)),
        ((8, 16), (5, 6, 4), 16, 0, (289, 289)),
        ((8, 16), (5, 6, 4), 20, 0, (275, 272)),
        ((8, 16), (5, 6, 4), 30, 0, (275, 247)),
        ((8, 32), (5, 6, 4), 16, 0, (529, 529)),
    ],
)
def test_ramp_values(
    size: tuple[int, int], costs: tuple[int, int, int], limit: int, transfer: int, values: tuple[int, int]
) -> None:
    """Tests the ramp bound against values of another program."""
    instance = equal(*size, costs, limit, transfer)
    assert (ramp(instance, MAKESPAN), ramp(instance, SPAN)) == values


def test_load_and_chain_values() -> None:
    """Tests the load with heads, and the chain: 6 rounds of 38, 1 F and B, then W, on stage 0 at memory for two."""
    assert [gpu_load(equal(4, 12, (5, 6, 4), 4), each) for each in (MAKESPAN, SPAN)] == [195, 180]
    assert memory_chain(equal(4, 12, (5, 6, 4), 4), SPAN) == 6 * (5 + 33 + 6) + 6 + 4
    # at memory for one, W must be over too: 3 rounds with W and one without
    assert memory_chain(equal(2, 4, (5, 6, 4), 2), SPAN) == 3 * (5 + 11 + 6 + 4) + (5 + 11 + 6) + 4
    assert [bound(equal(2, 4, (5, 6, 4), 2), Objective.WEIGHTED_COMPLETION) for bound in BOUNDS] == [0, 0, 0]


@pytest.mark.parametrize(
    ("p", "m", "costs"), [(2, 3, (5, 6, 4)), (4, 9, (3, 3, 3)), (5, 6, (7, 9, 2)), (3, 12, (4, 5, 1))]
)
def test_zb_h1_is_optimal(p: int, m: int, costs: tuple[int, int, int]) -> None:
    """Tests that ZB-H1 meets the ramp bound where memory holds p forward passes, m > p, w <= f and w <= b."""
    instance = equal(p, m, costs, 2 * p)
    for objective in (MAKESPAN, SPAN):
        assert objective_value(instance, zb_h1(instance, objective), objective) == ramp(instance, objective)


def check_bounds(seed: int) -> None:
    """Assert that no bound is above what brute force finds."""
    instance = small_pipeline(seed, tasks=9) if seed % 2 else random_buffered(seed, max_tasks=5)
    for objective in (MAKESPAN, SPAN):
        best = buffered_optimum(instance, objective)
        for bound in BOUNDS:
            assert best is None or bound(instance, objective) <= best, (seed, objective, bound.__name__)


def test_no_bound_exceeds_the_optimum() -> None:
    """Tests the bounds against brute force on random instances and pipelines."""
    for seed in range(30):
        check_bounds(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_no_bound_exceeds_the_optimum_of_many(block: int) -> None:
    """Tests the same on 1,000 instances."""
    for seed in range(1_000 + 100 * block, 1_100 + 100 * block):
        check_bounds(seed)


def test_parts_of_many_tasks_hold_nothing() -> None:
    """Tests that a part with too many closed sets leaves a valid bound."""
    n = 8
    owners = DagInstance.from_lists(
        [[1]] * (n + 1),
        [(task, n, 0) for task in range(n)],
        buffers=[(task, 1, [n]) for task in range(n)],
        gpu_memory=[n],
    )
    assert 2**n > MAX_OPTIONS
    assert ramp(owners, SPAN) == 9 == buffered_optimum(owners, SPAN)


def test_one_stage() -> None:
    """Tests that one stage with the others as delays lies between the bounds without search and the optimum."""
    for seed in (1, 3, 5, 9):
        instance = small_pipeline(seed, tasks=9)
        for objective in (MAKESPAN, SPAN):
            placed = PlacedBounds(instance, instance.durations.argmax(axis=1).tolist()).best(objective)
            assert placed <= one_stage(instance, objective) <= buffered_optimum(instance, objective)
    assert one_stage(equal(3, 4, (5, 6, 4), 4), SPAN, seconds_left=lambda: 0.0) == ramp(equal(3, 4, (5, 6, 4), 4), SPAN)


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "value"), [(4, 303), (6, 222), (8, 201), (10, 193)])
def test_one_stage_values(limit: int, value: int) -> None:
    """Tests one stage exactly against values of another program."""
    assert one_stage(equal(4, 12, (5, 6, 4), limit), SPAN) == value
