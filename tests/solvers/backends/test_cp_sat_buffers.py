"""Tests of CP-SAT with released memory, groups and the stage span, against brute force and published values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from instances.dag.pipeline import least_limit, pipeline_instance
from solvers.backends import cp_sat_buffers
from solvers.backends.down_sets import PROOF
from solvers.run.outcome import Status
from solvers.solve import solve
from tests.brute_force import optimum
from tests.brute_force_buffers import buffered_optimum
from tests.buffered_instances import random_buffered, small_pipeline
from tests.strategies import changed
from tests.tiny_instances import tiny_instance

if TYPE_CHECKING:
    from collections.abc import Sequence


TOO_TIGHT = DagInstance.from_lists(
    [[1, 1]] * 3, [(0, 2, 0), (1, 2, 0)], buffers=[(0, 2, [2]), (1, 2, [2])], gpu_memory=[3, 3], groups=[0, 0, None]
)


@pytest.fixture(autouse=True)
def _without_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let CP-SAT itself prove what the search with counts would prove before it."""
    monkeypatch.setattr(cp_sat_buffers, "COUNTED", 2**60)


OTHERS = ("milp-gdp", "milp-time-indexed", "nip", "nip-linearised")


def check_instance(instance: DagInstance, methods: Sequence[str] = ("cp-sat",)) -> None:
    """Assert that methods, given no bounds, prove what brute force finds, or that no schedule exists."""
    for objective in Objective:
        best = buffered_optimum(instance, objective)
        for method in methods:
            result = solve(instance, method, objective=objective, threads=1, bounds=[])
            expected = Status.INFEASIBLE if best is None else Status.OPTIMAL
            assert (result.status, result.objective, result.lower_bound) == (expected, best, best), (
                instance.name,
                objective,
                method,
            )


@pytest.mark.parametrize("seed", range(16))
def test_optimum(seed: int) -> None:
    """Tests random instances and pipelines, whose placements are searched one by one."""
    check_instance(random_buffered(seed, max_tasks=5) if seed % 2 else small_pipeline(seed, tasks=9))


@pytest.mark.parametrize("seed", range(101, 108))
def test_optimum_with_free_gpus(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests random instances where one model chooses the GPUs."""
    monkeypatch.setattr(cp_sat_buffers, "MAX_PLACEMENTS", 0)
    check_instance(random_buffered(seed, max_tasks=5))


@pytest.mark.parametrize("method", ["milp-disjunctive", *(pytest.param(one, marks=pytest.mark.slow) for one in OTHERS)])
def test_optimum_by_programs(method: str) -> None:
    """Tests that every MILP and the nonlinear program prove it too."""
    for seed in (3,) if method == "milp-disjunctive" else range(3, 12):
        check_instance(random_buffered(seed, max_tasks=5), (method,))


def test_programs_prove_that_nothing_exists() -> None:
    """Tests a case that has no schedule at all."""
    assert buffered_optimum(TOO_TIGHT) is None
    check_instance(TOO_TIGHT, ("milp-disjunctive", "down-sets"))


def test_owner_without_duration() -> None:
    """Tests that a buffer whose task takes no time counts from that tick on: 6, where 3 would be without it."""
    instance = DagInstance.from_lists(
        [[0, 0, None, None], [None, None, 3, None], [0, 0, None, None], [None, None, None, 3]],
        [(0, 1, 0), (2, 3, 0)],
        buffers=[(0, 2, [1]), (2, 2, [3])],
        gpu_memory=[3, 1, None, None],
        groups=[0, None, 0, None],
    )
    for method in ("cp-sat", "milp-disjunctive"):
        result = solve(instance, method, threads=1, bounds=[])
        assert (result.status, result.objective) == (Status.OPTIMAL, 6)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_optimum_of_many(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests 500 instances of up to 7 tasks (pipelines: 12) on up to 3 GPUs, placements one by one and in one model."""
    for seed in range(2_000 + 50 * block, 2_050 + 50 * block):
        monkeypatch.setattr(cp_sat_buffers, "MAX_PLACEMENTS", 1_000 if seed % 3 else 0)
        instance = random_buffered(seed, max_tasks=7) if seed % 2 else small_pipeline(seed)
        check_instance(instance, ("cp-sat", "milp-disjunctive", "down-sets"))


def test_a_delayed_start_makes_the_span_smaller() -> None:
    """Tests the smallest known case in which the first pass must not begin at once: 18, and 20 if it did."""
    instance = pipeline_instance(
        micro_batches=2, forward=[4, 1], backward=[2, 1], weight=[1, 7], transfer=2, limits=[4, 3]
    )
    assert buffered_optimum(instance, Objective.STAGE_SPAN) == 18
    result = solve(instance, "cp-sat", objective="stage_span", threads=1)
    assert (result.status, result.objective) == (Status.OPTIMAL, 18)


def equal(p: int, m: int, limit: int, c: int = 0) -> DagInstance:
    """Return p equal stages of (5, 6, 4)."""
    costs = {"forward": [5] * p, "backward": [6] * p, "weight": [4] * p}
    return pipeline_instance(micro_batches=m, transfer=c, limits=limit, **costs)


@pytest.mark.parametrize(
    ("instance", "makespan", "span"),
    [
        (equal(4, 4, 8), 81, 81),
        (equal(4, 12, 8), 201, 201),
        (equal(4, 12, 14), 195, 183),
    ],
)
def test_check_values(instance: DagInstance, makespan: int, span: int) -> None:
    """Tests optima that another program proved."""
    for objective, value in (("makespan", makespan), ("stage_span", span)):
        result = solve(instance, "cp-sat", objective=objective, threads=1)
        assert (result.status, result.objective) == (Status.OPTIMAL, value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "transfer", "makespan", "span"),
    [
        *((4, 0, 319, 319), (6, 0, 236, 236), (10, 0, 195, 193), (12, 0, 195, 188)),
        *(
            (4, 1, 347, 347),
            (6, 1, 254, 254),
            (8, 1, 213, 213),
            (10, 1, 200, 199),
            (12, 1, 198, 194),
            (14, 1, 198, 189),
        ),
    ],
)
def test_all_check_values(limit: int, transfer: int, makespan: int, span: int) -> None:
    """Tests the other optima of four stages and twelve micro-batches."""
    test_check_values(equal(4, 12, limit, transfer), makespan, span)


@pytest.mark.parametrize("seed", range(4))
def test_memory_that_never_binds(seed: int) -> None:
    """Tests that with buffers of 0 bytes, or without limits, the optimum is that without buffers."""
    plain = tiny_instance(seed)
    owners = np.flatnonzero((plain.durations != 0).all(axis=1))
    fields = {"buffer_task": owners, "buffer_releases": np.column_stack([np.arange(len(owners)), owners])}
    empty = changed(plain, buffer_bytes=np.zeros(len(owners), dtype=np.int64), **fields)
    for objective in (Objective.MAKESPAN, Objective.WEIGHTED_COMPLETION):
        result = solve(empty, "cp-sat", objective=objective, threads=1, bounds=[])
        assert result.objective == optimum(plain, objective)


def test_too_little_memory_is_infeasible() -> None:
    """Tests that memory in which two buffers that must meet do not fit is proved to have no schedule."""
    for objective in Objective:
        assert solve(TOO_TIGHT, "cp-sat", objective=objective, threads=1).status is Status.INFEASIBLE


def test_limits_end_a_run() -> None:
    """Tests that a run whose time is over keeps the greedy schedule and a bound."""
    result = solve(equal(4, 12, 4), "cp-sat", objective="makespan", threads=1, time_limit=1e-6)
    assert result.objective == 319
    assert 274 <= result.lower_bound <= 319


def test_least_limit_is_feasible() -> None:
    """Tests that a pipeline with the least memory has a schedule, and one with less is refused."""
    loose = pipeline_instance(micro_batches=2, forward=[1, 2], backward=[2, 1], weight=[1, 1], gpus=1)
    least = least_limit(loose)
    tight = changed(loose, gpu_memory=[least])
    assert solve(tight, "cp-sat", threads=1).status is Status.OPTIMAL
    with pytest.raises(ValueError, match=f"expected a GPU with at least {least} bytes"):
        changed(loose, gpu_memory=[least - 1])


@pytest.mark.parametrize("seed", range(4))
def test_releasing_earlier_never_hurts(seed: int) -> None:
    """Tests that buffers which their own tasks release leave an optimum that is no larger."""
    instance = random_buffered(300 + seed, max_tasks=5)
    numbers = np.arange(instance.num_buffers)
    early = changed(instance, buffer_releases=np.column_stack([numbers, instance.buffer_task]))
    for objective in Objective:
        before, after = (solve(one, "cp-sat", objective=objective, threads=1) for one in (instance, early))
        assert before.objective is None or after.objective <= before.objective


def test_every_placement_gets_time() -> None:
    """Tests that a free pipeline on unlike GPUs, whose placements share the time, is proved."""
    instance = pipeline_instance(
        micro_batches=3,
        forward=[3, 5, 4],
        backward=[4, 6, 5],
        weight=[3, 4, 2],
        transfer=1,
        limits=6,
        slowdown=[1.0, 1.5, 2.0],
        is_free=True,
    )
    for objective in ("makespan", "stage_span"):
        placed = solve(instance, "cp-sat", objective=objective, threads=1)
        assert placed.status is Status.OPTIMAL
        assert placed.objective <= solve(instance, "pipeline-greedy", objective=objective, bounds=[]).objective


@pytest.mark.parametrize("comes_first", [True, False])
def test_counts_in_growing_layers(comes_first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the search with counts proves a pipeline, before CP-SAT or where that has settled nothing."""
    monkeypatch.setattr(cp_sat_buffers, "COUNTED", 1)
    if not comes_first:
        monkeypatch.setattr(cp_sat_buffers, "COUNTED_SHARE", 1e-9)
    monkeypatch.setattr(cp_sat_buffers.BufferSearch, "_ask", lambda self, way, bound, share: (bound, False))
    for objective in ("makespan", "stage_span"):
        result = solve(equal(4, 12, 6), "cp-sat", objective=objective, threads=1, time_limit=1e6)
        assert (result.status, result.objective) == (Status.OPTIMAL, 236)
        assert result.bound is not None
        assert (result.bound.proof, result.bound.solver) == (PROOF, None)
