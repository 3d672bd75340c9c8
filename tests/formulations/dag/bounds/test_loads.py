"""Tests of the area bound: examples, an independent LP solver, and validity whatever the multipliers."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ortools.linear_solver import pywraplp

from formulations.dag.bounds import loads as area_module
from formulations.dag.bounds import loads as module
from formulations.dag.bounds.assignment_lp import AssignmentLp, Multipliers
from formulations.dag.bounds.loads import (
    area,
    ascend,
    fernandez_bussell,
    memory_excludes_all,
    window_load,
    window_load_lp,
)
from formulations.dag.bounds.paths import join_aware_path
from formulations.dag.heads_and_tails import heads_and_tails
from instances.dag.instance import NO_LIMIT, DagInstance
from instances.dag.objective import Objective
from tests.brute_force import optimum
from tests.strategies import changed, dag_instances

some = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def lp_value(instance: DagInstance, tasks: list[int]) -> float | None:
    """Return the optimum of the area LP of some tasks by another solver, None where memory makes it infeasible."""
    solver = pywraplp.Solver.CreateSolver("GLOP")
    last = solver.NumVar(0, solver.infinity(), "last")
    x = {
        (task, k): solver.NumVar(0, solver.infinity(), "")
        for task in tasks
        for k in np.flatnonzero(instance.allowed[task]).tolist()
    }
    durations, memory = instance.durations.tolist(), instance.task_memory.tolist()
    for task in tasks:
        solver.Add(sum(x[pair] for pair in x if pair[0] == task) == 1)
        solver.Add(sum(durations[task][k] * x[task, k] for other, k in x if other == task) <= last)
    for gpu, capacity in enumerate(instance.gpu_memory.tolist()):
        on_gpu = [(task, k) for task, k in x if k == gpu]
        if on_gpu:
            solver.Add(sum(durations[task][k] * x[task, k] for task, k in on_gpu) <= last)
        if on_gpu and capacity >= 0:
            solver.Add(sum(memory[task] * x[task, k] for task, k in on_gpu) <= capacity)
    solver.Minimize(last)
    status = solver.Solve()
    if status == pywraplp.Solver.INFEASIBLE:
        return None
    assert status == pywraplp.Solver.OPTIMAL
    return float(solver.Objective().Value())


def area_lp(instance: DagInstance, *, with_task_rows: bool = False) -> AssignmentLp:
    """Return the area LP of all tasks; GPUs first, then tasks where wanted."""
    lp = AssignmentLp(instance, np.arange(instance.num_tasks), instance.allowed)
    lp.add_area_rows()
    if with_task_rows:
        lp.add_task_rows(lp.durations)
    return lp


def test_published_examples(heft_example: DagInstance, window_example: DagInstance) -> None:
    """Tests the HEFT example (30.79, so 31) and the window example (5.33, so 6)."""
    assert area(heft_example, Objective.MAKESPAN) == 31
    assert area(window_example, Objective.MAKESPAN) == 6
    assert lp_value(heft_example, list(range(10))) == pytest.approx(30.79, abs=0.005)


def test_memory_has_a_price() -> None:
    """Tests that four tasks, of which two fit on the fast GPU, need 20 ticks on the slow one, without limits only 4."""
    durations = [[1, 10]] * 4
    free = DagInstance.from_lists(durations)
    tight = DagInstance.from_lists(durations, task_memory=[1] * 4, gpu_memory=[2, None])
    assert area(free, Objective.MAKESPAN) == 4  # 40 / 11
    assert area(tight, Objective.MAKESPAN) == 20 == optimum(tight)
    priced = Multipliers(row=np.array([0.0, 1.0]), memory=np.array([10.0, 0.0]))
    assert area_lp(tight).prove(priced) == 20  # 4 x min(10, 10) - 10 x 2
    assert area_lp(free).prove(priced) == 0  # no limit, no price: all sit on the GPU that costs nothing
    assert area_lp(tight).prove(Multipliers(row=np.array([0.0, 1.0]), memory=np.zeros(2))) == 0


def test_long_task_counts_alone() -> None:
    """Tests the row of one task: it takes 9 ticks even if two GPUs share all other work."""
    assert area(DagInstance.from_lists([[9, 9], [1, 1]]), Objective.MAKESPAN) == 9


def test_weighted_completion_counts_each_job_alone() -> None:
    """Tests 2 (12 / 2) + 3 (5 + 7) + 1 x 20 for three tasks of one job, one of another, and a job without tasks."""
    instance = DagInstance.from_lists(
        [[4, 4], [4, 4], [4, 4], [7, 7]], job_of_task=[0, 0, 0, 1], release=[0, 5, 20], weight=[2, 3, 1]
    )
    assert area(instance, Objective.WEIGHTED_COMPLETION) == 2 * 6 + 3 * 12 + 20
    assert area(instance, Objective.MAKESPAN) == 10  # 19 / 2 after the first release


def test_first_release_is_added() -> None:
    """Tests that the earliest release of jobs with tasks is added, not that of an empty job."""
    instance = DagInstance.from_lists([[4], [5]], job_of_task=[1, 2], release=[0, 6, 9])
    assert area(instance, Objective.MAKESPAN) == 15


def test_no_tasks_and_no_durations() -> None:
    """Tests that no tasks, and tasks that take no time, are bounded by 0 and by releases."""
    assert area(DagInstance.from_lists([], num_gpus=2, release=[4]), Objective.MAKESPAN) == 0
    assert area(DagInstance.from_lists([[0, 0]], release=[4]), Objective.MAKESPAN) == 4
    assert area(DagInstance.from_lists([[0, 0]], release=[4], weight=[3]), Objective.WEIGHTED_COMPLETION) == 12


@given(instance=dag_instances(max_tasks=9, max_jobs=1))
@some
def test_lp_value_is_reached(instance: DagInstance) -> None:
    """Tests that the integers prove the LP's optimum, rounded up, as another solver finds it."""
    value = lp_value(instance, list(range(instance.num_tasks)))
    if value is not None:
        assert area(instance, Objective.MAKESPAN) == int(instance.release[0]) + math.ceil(value - 1e-6)


@given(data=st.data(), instance=dag_instances(max_tasks=6, max_jobs=1))
@some
def test_any_multipliers_are_valid(data: st.DataObject, instance: DagInstance) -> None:
    """Tests that random multipliers, of any size and even negative ones, never prove more than the optimum."""
    best = optimum(instance)
    prices = st.one_of(st.floats(-1, -1e-12), st.just(0.0), st.floats(1e-12, 1e-6), st.floats(1e-6, 1e6))
    lp = area_lp(instance, with_task_rows=True)
    row, memory = (
        np.array(data.draw(st.lists(prices, min_size=size, max_size=size)))
        for size in (len(lp.rows), instance.num_gpus)
    )
    proved = lp.prove(Multipliers(row=row, memory=memory))
    assert proved >= 0
    assert best is None or proved <= best


@given(instance=dag_instances(max_tasks=6, max_jobs=1))
@some
def test_dual_ascent_is_valid(instance: DagInstance) -> None:
    """Tests that the multipliers for large instances prove at least 0 and at most the LP's optimum."""
    lp = area_lp(instance)
    multipliers = Multipliers(row=ascend(lp), memory=np.zeros(instance.num_gpus))
    value = lp_value(instance, list(range(instance.num_tasks)))
    assert lp.prove(multipliers) >= 0
    assert value is None or lp.prove(multipliers) <= math.ceil(value - 1e-6)


def test_large_instances_take_dual_ascent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that above the limit of columns no LP is solved and the bound comes within 2 % of the LP's."""
    rng = np.random.default_rng(5)
    instance = DagInstance.from_lists(rng.integers(50, 500, size=(60, 4)).tolist())
    exact = area(instance, Objective.MAKESPAN)
    monkeypatch.setattr(area_module, "MAX_LP_PAIRS", 239)
    monkeypatch.setattr(AssignmentLp, "solve", lambda _: pytest.fail("the LP was solved"))
    ascended = area(instance, Objective.MAKESPAN)
    assert 0.98 * exact <= ascended <= exact


def test_huge_numbers_stay_exact() -> None:
    """Tests durations near the largest horizon: the bound is right to the tick, beyond 64-bit products."""
    instance = DagInstance.from_lists([[2**50, 2**50]] * 4, task_memory=[2**40] * 4, gpu_memory=[2**41, 2**41])
    value = area(instance, Objective.MAKESPAN)
    assert 2**51 * (1 - 1e-8) <= value <= 2**51


def test_published_examples_fernandez_bussell(heft_example: DagInstance, window_example: DagInstance) -> None:
    """Tests 63 and 10, no more than the join-aware path: the three middle tasks can use all three GPUs."""
    assert fernandez_bussell(heft_example, Objective.MAKESPAN) == 63
    assert fernandez_bussell(window_example, Objective.MAKESPAN) == 10


def test_three_tasks_between_two_others() -> None:
    """Tests by hand: 12 ticks of work between 2 and 6 on two GPUs end 2 ticks late; the optimum cannot cut a task."""
    edges = [(0, 1, 0), (0, 2, 0), (0, 3, 0), (1, 4, 0), (2, 4, 0), (3, 4, 0)]
    instance = DagInstance.from_lists([[2, 2], [4, 4], [4, 4], [4, 4], [2, 2]], edges)
    assert join_aware_path(instance, Objective.MAKESPAN) == 8
    assert fernandez_bussell(instance, Objective.MAKESPAN) == 8 + (12 // 2 - 4)
    assert optimum(instance) == 12


def test_releases_zero_durations_and_forbidden_gpus() -> None:
    """Tests that work begins at the release, that tasks of duration 0 add none, and that each task counts its least."""
    instance = DagInstance.from_lists(
        [[4, 7], [None, 4], [4, None], [0, 9], [9, 0]], job_of_task=[0] * 5, release=[5], name="released"
    )
    assert fernandez_bussell(instance, Objective.MAKESPAN) == 5 + 4 + (12 // 2 - 4)


def test_part_of_a_task_lies_in_the_window() -> None:
    """Tests by hand: within 10 ticks of a chain 4, 2, 4, three tasks of 6 run at least 2 ticks in [4,6] each."""
    instance = DagInstance.from_lists([[4, 4], [2, 2], [4, 4], [6, 6], [6, 6], [6, 6]], [(0, 1, 0), (1, 2, 0)])
    opens, ends = np.array([4]), np.array([6])
    around = heads_and_tails(instance)
    assert join_aware_path(instance, Objective.MAKESPAN) == 10
    delay = module._delay(around.heads, 10 - around.tails, instance.durations, around.allowed, opens, ends)
    assert delay == (2 + 3 * 2) // 2 - 2
    assert fernandez_bussell(instance, Objective.MAKESPAN) == (10 + 18) // 2  # all of [0,10] is the fullest window


def test_other_objective_has_no_bound(window_example: DagInstance) -> None:
    """Tests that for weighted completion, and without tasks, nothing is claimed."""
    assert fernandez_bussell(window_example, Objective.WEIGHTED_COMPLETION) == 0
    assert fernandez_bussell(DagInstance.from_lists([], num_gpus=1), Objective.MAKESPAN) == 0


def test_fewer_windows_prove_less_but_nothing_false(monkeypatch: pytest.MonkeyPatch, heft_example: DagInstance) -> None:
    """Tests that trying only some windows keeps the bound between the path and all windows."""
    wide = changed(heft_example, durations=np.repeat(heft_example.durations.min(axis=1), 3).reshape(-1, 3))
    everything = fernandez_bussell(wide, Objective.MAKESPAN)
    monkeypatch.setattr(module, "MAX_ENDS", 3)
    assert join_aware_path(wide, Objective.MAKESPAN) <= fernandez_bussell(wide, Objective.MAKESPAN) <= everything


@given(instance=dag_instances(max_tasks=7))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_between_path_and_optimum(instance: DagInstance) -> None:
    """Tests that it is never below the join-aware path and never above the optimum."""
    best = optimum(instance)
    if best is not None:
        assert join_aware_path(instance, Objective.MAKESPAN) <= fernandez_bussell(instance, Objective.MAKESPAN) <= best


def test_window_example(window_example: DagInstance) -> None:
    """Tests 10.8, so 11, where the join-aware path gives 10: three tasks do not fit between A and Z."""
    assert window_load(window_example, Objective.MAKESPAN) == 11
    assert join_aware_path(window_example, Objective.MAKESPAN) == 10


def test_far_gpu_proves_nothing_false(window_example: DagInstance) -> None:
    """Tests that rows of the far GPU, whose heads and tails sum to 22, never claim more than the optimum 12."""
    _, lp = window_load_lp(window_example, heads_and_tails(window_example), 10)
    assert max(row.base for row in lp.rows) <= 10
    assert len(lp.rows) > 3 + 5  # rows were separated beyond those of GPUs and tasks


def test_published_example(heft_example: DagInstance) -> None:
    """Tests that the HEFT example stays at 63."""
    assert window_load(heft_example, Objective.MAKESPAN) == 63


def test_other_objective_has_no_bound_window_load(window_example: DagInstance) -> None:
    """Tests that for weighted completion, and without tasks, nothing is claimed."""
    assert window_load(window_example, Objective.WEIGHTED_COMPLETION) == 0
    assert window_load(DagInstance.from_lists([], num_gpus=1), Objective.MAKESPAN) == 0


@given(instance=dag_instances(max_tasks=7))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_deadline_at_the_optimum_is_not_refuted(instance: DagInstance) -> None:
    """Tests that assuming at most the optimum never proves more than it."""
    best = optimum(instance)
    if best is not None:
        around = heads_and_tails(instance, makespan_at_most=best)
        assert window_load_lp(instance, around, best, deadline=best)[0] <= best


@given(instance=dag_instances(max_tasks=7), proven=st.integers(0, 20))
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
def test_only_violated_rows_are_added(instance: DagInstance, proven: int) -> None:
    """Tests that the placement of the first linear program violates every row that it is answered with."""
    around = heads_and_tails(instance)
    if not around.allowed.any(axis=1).all():
        return
    lp = AssignmentLp(instance, np.arange(instance.num_tasks), around.allowed)
    heads, tails = (ticks[lp.task_of_pair, lp.gpu_of_pair] for ticks in (around.heads, around.tails))
    lp.add_area_rows()
    lp.add_task_rows(heads + lp.durations + tails)
    _, placement, value = lp.solve()
    for gpu in range(instance.num_gpus):
        for row in module._violated(lp, gpu, heads, tails, placement, value, proven, None):
            assert row.base + float(row.ticks @ placement[row.pairs]) > value


def apart() -> DagInstance:
    """Return two chained pairs of tasks that fit on GPU 0 only as far as they are not on it together."""
    return DagInstance.from_lists(
        [[2, 2], [2, 2], [2, 2]],
        edges=[(0, 1, 10), (1, 2, 10)],
        task_memory=[4, 4, 4],
        gpu_memory=[8, 8],
        latency=[[0, 20], [20, 0]],
    )


def test_memory_alone_refutes_a_deadline() -> None:
    """Tests that a deadline that leaves one GPU for tasks that do not fit on it is refuted without any load."""
    instance = apart()
    around = heads_and_tails(instance)
    only = np.array([[True, False]] * 3)
    assert memory_excludes_all(instance, only)
    assert not memory_excludes_all(instance, instance.allowed)
    assert not memory_excludes_all(replace(instance, gpu_memory=np.array([NO_LIMIT, 8])), only)
    on_one = replace(around, allowed=only)
    assert window_load_lp(instance, on_one, 6, deadline=50)[0] == 51
    assert window_load_lp(instance, around, 6, deadline=50)[0] <= 50


@some
@given(instance=dag_instances(max_tasks=5), data=st.data())
def test_memory_excludes_nothing_that_exists(instance: DagInstance, data: st.DataObject) -> None:
    """Tests by trying all placements that what memory is said to exclude is impossible."""
    rows = [data.draw(st.sets(st.sampled_from(np.flatnonzero(row).tolist()), min_size=1)) for row in instance.allowed]
    allowed = np.array([[k in row for k in range(instance.num_gpus)] for row in rows]).reshape(-1, instance.num_gpus)
    limit = np.where(instance.gpu_memory < 0, 10**9, instance.gpu_memory)
    placements = itertools.product(*(sorted(row) for row in rows))
    used = (np.bincount(p, weights=instance.task_memory, minlength=len(limit)) for p in placements)
    if any((each <= limit).all() for each in used):
        assert not memory_excludes_all(instance, allowed)
