"""Tests of the bound by sets of tasks per GPU in Smith's order."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations, permutations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.dag.bounds import smith_columns as module
from formulations.dag.bounds.single_machine import eastman_even_isaacs
from formulations.dag.bounds.smith_columns import GpuColumn, cheapest_set, smith_columns, task_weights
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from instances.generators.dag.generate import generate
from solvers.solve import solve
from tests.brute_force import optimum
from tests.strategies import dag_instances

WEIGHTED = Objective.WEIGHTED_COMPLETION
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_two_gpus_by_hand() -> None:
    """Tests an instance whose bound is its optimum 9: t2 (weight 3) on GPU 1, then t0 there, t1 on GPU 0."""
    instance = DagInstance.from_lists(
        [[2, 2], [3, 5], [4, 1]], job_of_task=[0, 1, 2], release=[0, 0, 0], weight=[1, 1, 3]
    )
    assert smith_columns(instance, WEIGHTED) == optimum(instance, WEIGHTED) == 9
    later = replace(instance, release=np.array([5, 5, 5]))
    assert smith_columns(later, WEIGHTED) == 9 + 5 * 5
    assert smith_columns(instance, Objective.MAKESPAN) == 0


def test_jobs_without_tasks_count_from_their_release() -> None:
    """Tests that a job without tasks costs its weight times its release, and that weight 0 costs nothing."""
    instance = DagInstance.from_lists([[2], [9]], job_of_task=[1, 2], release=[3, 4, 0], weight=[2, 1, 0])
    assert smith_columns(instance, WEIGHTED) == 2 * 3 + 6
    assert smith_columns(DagInstance.from_lists([], num_gpus=2, release=[3]), WEIGHTED) == 3


@given(instance=dag_instances(max_tasks=6, max_jobs=6), cells=st.sampled_from([1, 2, 4000]))
@quick
def test_bound_is_never_above_the_optimum(instance: DagInstance, cells: int) -> None:
    """Tests against brute force with several tasks per job, edges and memory, however few cells there are."""
    best = optimum(instance, WEIGHTED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "cells_for", lambda load, sizes: cells)
        assert best is None or smith_columns(instance, WEIGHTED) <= best


@pytest.mark.slow
@given(instance=dag_instances(max_tasks=7, max_jobs=7), cells=st.sampled_from([1, 2, 4000]))
@settings(max_examples=2_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_bound_is_never_above_the_optimum_at_length(instance: DagInstance, cells: int) -> None:
    """Tests the same on many more instances."""
    best = optimum(instance, WEIGHTED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "cells_for", lambda load, sizes: cells)
        assert best is None or smith_columns(instance, WEIGHTED) <= best


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_bound_is_nearly_tight_on_unrelated_machines(seed: int) -> None:
    """Tests 40 tasks on 4 GPUs: within 0.1 % of a verified schedule, where one machine for all is 6 % below."""
    instance = generate("unrelated-machines", tasks=40, seed=seed)
    best = solve(instance, "wspt", objective=WEIGHTED, bounds=[]).objective
    bound = smith_columns(instance, WEIGHTED)
    assert 0.999 * best <= bound <= best
    assert eastman_even_isaacs(instance, WEIGHTED) < bound


def test_no_time_and_large_numbers() -> None:
    """Tests that nothing but idle jobs is claimed without time, and where weights times times reach 2**60."""
    instance = DagInstance.from_lists([[2], [3]], job_of_task=[0, 1], release=[0, 0, 4])
    assert smith_columns(instance, WEIGHTED, seconds_left=lambda: 0.0) == 4
    huge = DagInstance.from_lists([[2**40], [3]], job_of_task=[0, 1], release=[0, 0, 4], weight=[2**20, 1, 1])
    assert smith_columns(huge, WEIGHTED) == 4


@given(instance=dag_instances(max_tasks=6, max_jobs=3))
@quick
def test_weights_of_tasks_sum_to_that_of_their_job(instance: DagInstance) -> None:
    """Tests that no weight is lost, negative or given to a job without tasks."""
    weight = task_weights(instance)
    assert (weight >= 0).all()
    for job in set(instance.job_of_task.tolist()):
        assert weight[instance.job_of_task == job].sum() == instance.weight[job]


@given(
    tasks=st.lists(st.tuples(st.integers(0, 6), st.integers(1, 5), st.integers(0, 4), st.integers(0, 60)), max_size=5),
    width=st.sampled_from([1, 1, 3]),
)
@quick
def test_cheapest_set_is_that_of_an_enumeration(tasks: list[tuple[int, int, int, int]], width: int) -> None:
    """Tests the least cost over all sets and orders; wide cells never give more than it."""
    tasks = sorted(tasks, key=lambda task: task[0] / task[1])

    def cost(order: tuple[tuple[int, int, int, int], ...]) -> int:
        work, total = 0, 0
        for duration, weight, tail, price in order:
            total += weight * (work + duration + tail) - price
            work += duration
        return total

    sets = chain.from_iterable(combinations(tasks, size) for size in range(len(tasks) + 1))
    best = min(cost(order) for subset in sets for order in permutations(subset))
    columns = np.array(tasks, dtype=np.int64).reshape(-1, 4).T
    duration, weight, tail, price = (np.ascontiguousarray(row) for row in columns)
    column = GpuColumn(np.arange(len(tasks)), duration, weight, duration + tail)
    chosen = np.zeros(len(tasks), dtype=np.int64)
    least = cheapest_set(column, price, 31 // width + 1, width, chosen)
    assert least == best if width == 1 else least <= best
    assert set(chosen.tolist()) <= {0, 1}


def test_tasks_without_a_gpu_break_nothing() -> None:
    """Tests an instance without any schedule: two tasks may run on one GPU only, whose memory holds either."""
    instance = DagInstance.from_lists([[0, None]] * 2, [(0, 1, 0)], task_memory=[1, 4], gpu_memory=[4, None])
    assert smith_columns(instance, Objective.WEIGHTED_COMPLETION) == 0
