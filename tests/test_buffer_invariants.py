"""Invariants on instances with buffers and groups: what changes the optimum, and in which direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.objective import Objective
from instances.dag.verify import verify_dag_schedule
from solvers.backends import cp_sat_buffers
from solvers.lower_bound import lower_bound
from solvers.methods import METHODS
from solvers.problem import DAG
from solvers.solve import solve
from tests.buffered_instances import random_buffered, small_pipeline
from tests.strategies import changed, reordered

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance


@pytest.fixture(autouse=True)
def _without_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let CP-SAT itself prove what its phase in common with down-sets would prove before it."""
    monkeypatch.setattr(cp_sat_buffers, "COUNTED", 2**60)


SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 62))]
SEARCHES = [name for name, method in METHODS.items() if method.kind == "search" and method.knows_buffers]


def tiny(seed: int) -> DagInstance:
    """Return a random instance or a pipeline."""
    return random_buffered(4_000 + seed, max_tasks=5) if seed % 2 else small_pipeline(4_000 + seed, tasks=9)


def proved(instance: DagInstance, objective: Objective) -> int | None:
    """Return the optimum, None where no schedule exists; two exact methods that share no model agree on it."""
    values = {solve(instance, one, objective=objective, threads=1, bounds=[]).objective for one in EXACT}
    assert len(values) == 1
    return values.pop()


EXACT = ("cp-sat", "down-sets")


@pytest.mark.parametrize("objective", Objective)
@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_optima_and_heuristics_are_in_order(seed: int, objective: Objective) -> None:
    """Tests that no bound is above the optimum, and that schedules of all who know buffers verify and are not below."""
    instance = tiny(seed)
    best = proved(instance, objective)
    for bound in lower_bound(instance, methods=DAG.default_bounds(instance, objective), objective=objective):
        assert best is None or bound.value <= best
    for method in (*SEARCHES, "lns", "buffer-list"):
        options = {"stop": MaxEvaluations(20)} if method in SEARCHES else {}
        options |= {"iterations": 2, "threads": 1} if method == "lns" else {}
        result = solve(instance, method, objective=objective, bounds=[], **options)
        assert result.schedule is None or verify_dag_schedule(instance, result.schedule) == []
        assert result.objective is None or result.objective >= best


@pytest.mark.parametrize("objective", Objective)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_changes_the_optimum(seed: int, objective: Objective) -> None:
    """Tests order, longer times, one more GPU, more memory and bandwidth, one edge less, and no delays."""
    instance, rng = tiny(seed), np.random.default_rng(seed)
    best = proved(instance, objective)
    other = reordered(
        instance, rng.permutation(instance.num_tasks).tolist(), rng.permutation(instance.num_gpus).tolist()
    )
    assert proved(other, objective) == best
    longer = changed(
        instance,
        durations=np.where(instance.durations < 0, -1, 3 * instance.durations),
        edge_bytes=3 * instance.edge_bytes,  # bandwidth is 1 byte per tick
        latency=3 * instance.latency,
        release=3 * instance.release,
    )
    assert (instance.bytes_per_tick[~np.eye(instance.num_gpus, dtype=bool)] == 1).all()
    assert proved(longer, objective) == (None if best is None else 3 * best)
    easier = [
        changed(instance, gpu_memory=np.where(instance.gpu_memory < 0, -1, instance.gpu_memory + 2)),
        changed(instance, bytes_per_tick=2 * instance.bytes_per_tick),
        changed(instance, latency=0 * instance.latency),
        with_one_more_gpu(instance),
        changed(instance, group_of_task=np.full(instance.num_tasks, -1)),
    ]
    released = {(int(instance.buffer_task[b]), int(task)) for b, task in instance.buffer_releases}
    spare = [edge for edge, ends in enumerate(instance.edges.tolist()) if not released_over(instance, ends, released)]
    if spare:
        kept = np.arange(instance.num_edges) != spare[0]
        easier.append(changed(instance, edges=instance.edges[kept], edge_bytes=instance.edge_bytes[kept]))
    for one in easier:
        value = proved(one, objective)
        assert best is None or value <= best


def released_over(instance: DagInstance, ends: list[int], released: set[tuple[int, int]]) -> bool:
    """Say whether an edge lies on a path from a buffer's task to one that releases it, so that it must stay."""
    behind = np.eye(instance.num_tasks, dtype=bool)
    for _ in range(instance.num_tasks):
        for tail, head in instance.edges.tolist():
            behind[tail] |= behind[head]
    return any(behind[owner, ends[0]] and behind[ends[1], task] for owner, task in released)


def with_one_more_gpu(instance: DagInstance) -> DagInstance:
    """Return the instance with one more GPU, on which every task takes 2 ticks, and without a memory limit there."""
    m = instance.num_gpus
    return changed(
        instance,
        durations=np.column_stack([instance.durations, np.full(instance.num_tasks, 2)]),
        gpu_memory=np.append(instance.gpu_memory, -1),
        latency=np.pad(instance.latency, (0, 1), constant_values=1),
        bytes_per_tick=np.pad(instance.bytes_per_tick, (0, 1), constant_values=1.0),
        gpu_names=(*instance.gpu_names, f"g{m}"),
        gpu_kinds=(*instance.gpu_kinds, "GPU"),
        gpu_servers=(*instance.gpu_servers, "s0"),
    )
