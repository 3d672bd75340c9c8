"""Tests of destructive bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from formulations.dag.bounds import refuted_makespans as module
from formulations.dag.bounds.loads import fernandez_bussell, window_load
from formulations.dag.bounds.paths import join_aware_path
from formulations.dag.bounds.refuted_makespans import destructive, energetic, probing
from formulations.dag.bounds.single_machine import mean_busy_time, srpt
from instances.clusters.cost_model import CostModel
from instances.dag.contention import Contention
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from instances.generators.dag.generate import generate
from instances.generators.dag.planted import planted_optimum
from solvers.solve import solve
from tests.brute_force import optimum
from tests.brute_force_contention import optimum_with_nics
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from collections.abc import Callable


def test_examples(heft_example: DagInstance, window_example: DagInstance, example_e: DagInstance) -> None:
    """Tests 11 (10 is refuted by the window-load LP, 11 is not), E closed at 15, and more than 63 where that is B3."""
    assert 63 < destructive(heft_example, Objective.MAKESPAN) <= 73
    assert destructive(window_example, Objective.MAKESPAN) == 11
    assert destructive(example_e, Objective.MAKESPAN) == 15


def test_removed_pairs_raise_the_bound() -> None:
    """Tests that a deadline that bars slow GPUs proves more than the LP alone: two tasks of 10 or 25, optimum 20."""
    instance = DagInstance.from_lists([[10, 25], [10, 25]])
    assert window_load(instance, Objective.MAKESPAN) < 20
    assert destructive(instance, Objective.MAKESPAN) == 20 == optimum(instance)


def test_other_objective_has_no_bound(window_example: DagInstance) -> None:
    """Tests that for weighted completion, and without tasks, nothing is claimed."""
    assert destructive(window_example, Objective.WEIGHTED_COMPLETION) == 0
    assert destructive(DagInstance.from_lists([], num_gpus=1), Objective.MAKESPAN) == 0


@given(instance=dag_instances(max_tasks=6))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_between_window_load_and_optimum(instance: DagInstance) -> None:
    """Tests that refuting is never weaker than the plain bound and never above the optimum."""
    best = optimum(instance)
    if best is not None:
        assert window_load(instance, Objective.MAKESPAN) <= destructive(instance, Objective.MAKESPAN) <= best


def test_window_example(window_example: DagInstance) -> None:
    """Tests the optimum 12 where window loads end at 11: within 11, each GPU holds one task of the middle at most."""
    assert energetic(window_example, Objective.MAKESPAN) == 12 == optimum(window_example)
    assert window_load(window_example, Objective.MAKESPAN) == 11


def test_published_examples(heft_example: DagInstance, join_example: DagInstance, example_e: DagInstance) -> None:
    """Tests that the optima 73, 10 and 15 are proved without any search."""
    assert energetic(heft_example, Objective.MAKESPAN) == 73
    assert energetic(join_example, Objective.MAKESPAN) == 10
    assert energetic(example_e, Objective.MAKESPAN) == 15


def test_area_and_fixed_pairs() -> None:
    """Tests two tasks of 10 or 25 ticks: within 19 both need GPU 0, which has room for one."""
    assert energetic(DagInstance.from_lists([[10, 25], [10, 25]]), Objective.MAKESPAN) == 20


def test_jobs_are_summed_by_weight_and_rank() -> None:
    """Tests by hand two jobs of two tasks of 3 and 4 ticks on one GPU: alone 6 and 8, the later one at 14."""
    instance = DagInstance.from_lists([[3], [3], [4], [4]], job_of_task=[0, 0, 1, 1], release=[0, 0], weight=[2, 1])
    # Weight 1 for both: 6 and 14; 1 more for job 0: 6.
    assert energetic(instance, Objective.WEIGHTED_COMPLETION) == 6 + 14 + 6
    assert optimum(instance, Objective.WEIGHTED_COMPLETION) == 2 * 6 + 14


def test_edges_between_jobs_keep_their_heads() -> None:
    """Tests that a job that waits for another one counts from there: 5, then 5 + 3 with its two tasks on one GPU."""
    instance = DagInstance.from_lists(
        [[5, None], [None, 2], [None, 1]], [(0, 1, 0), (0, 2, 0)], job_of_task=[0, 1, 1], release=[0, 0], weight=[0, 1]
    )
    assert energetic(instance, Objective.WEIGHTED_COMPLETION) == 8 == optimum(instance, Objective.WEIGHTED_COMPLETION)


def test_empty_jobs_and_no_tasks() -> None:
    """Tests that no tasks give 0, and that a job without tasks completes at its release."""
    assert energetic(DagInstance.from_lists([], num_gpus=2), Objective.MAKESPAN) == 0
    instance = DagInstance.from_lists([[3], [2]], job_of_task=[0, 0], release=[0, 9], weight=[1, 2])
    assert energetic(instance, Objective.WEIGHTED_COMPLETION) == 5 + 18
    assert energetic(DagInstance.from_lists([[0], [0]], release=[4]), Objective.MAKESPAN) == 4


def test_infeasible_instance_has_some_bound() -> None:
    """Tests that an instance without any schedule ends, with a bound that is no infinity."""
    instance = DagInstance.from_lists([[1, 1]] * 4, task_memory=[2] * 4, gpu_memory=[3, 5])
    assert 1 <= energetic(instance, Objective.MAKESPAN) <= 4


@given(instance=dag_instances(max_tasks=7))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_between_path_and_optimum(instance: DagInstance) -> None:
    """Tests for both objectives that it is never below the join-aware path and never above the optimum."""
    for objective in FINISH_OBJECTIVES:
        best = optimum(instance, objective)
        if best is not None:
            assert join_aware_path(instance, objective) <= energetic(instance, objective) <= best


def test_examples_probing(heft_example: DagInstance, window_example: DagInstance, join_example: DagInstance) -> None:
    """Tests that the optima 73, 12 and 10 are proved."""
    values = [probing(one, Objective.MAKESPAN) for one in (heft_example, window_example, join_example)]
    assert values == [73, 12, 10]


def test_choice_by_choice() -> None:
    """Tests by hand what no load shows: within 6 ticks, the middle task leaves 1 tick wherever it sits.

    On GPU 0 it turns out the last task, on GPU 1 the first; the other GPU would then have to hold 2 + 5. Half of it on
    each GPU leaves 3.5 ticks, so that loads refute 5, but not 6.
    """
    instance = DagInstance.from_lists([[5, 2], [5, 5], [2, 5]])
    assert energetic(instance, Objective.MAKESPAN) == 6
    assert probing(instance, Objective.MAKESPAN) == 7 == optimum(instance)


@pytest.mark.parametrize("certificate", ["area", "path"])
def test_planted_optimum_is_not_exceeded(certificate: str) -> None:
    """Tests on 60 tasks with tight memory that the planted optimum is reached by one bound and exceeded by none."""
    planted = planted_optimum(tasks=60, num_gpus=3, certificate=certificate, seed=2, memory_tightness=1.0)
    assert energetic(planted.instance, Objective.MAKESPAN) == planted.optimum
    assert probing(planted.instance, Objective.MAKESPAN) == planted.optimum


@pytest.mark.parametrize(("family", "seed"), [("cholesky", 3), ("layered", 5), ("series-parallel", 2), ("in-tree", 4)])
def test_between_energetic_and_a_schedule(family: str, seed: int) -> None:
    """Tests on 30 tasks that it is between the energetic bound and a schedule, and within 15 % of the best."""
    instance = generate(family, tasks=30, seed=seed, cost=CostModel(ccr=1.0))
    found = min(solve(instance, method, bounds=[], seed=1).objective for method in ("heft", "cpop", "peft", "woa"))
    bound = probing(instance, Objective.MAKESPAN)
    assert energetic(instance, Objective.MAKESPAN) <= bound <= found
    assert bound >= 0.85 * found


def test_less_work_proves_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that with no work left the energetic bound remains."""
    instance = generate("cholesky", tasks=30, seed=3, cost=CostModel(ccr=3.0))
    everything = probing(instance, Objective.MAKESPAN)
    monkeypatch.setattr(module, "MOST_WORK", 0)
    assert probing(instance, Objective.MAKESPAN) == energetic(instance, Objective.MAKESPAN) < everything


@given(instance=dag_instances(max_tasks=7))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_between_energetic_and_optimum(instance: DagInstance) -> None:
    """Tests for both objectives that it is never below the energetic bound and never above the optimum."""
    for objective in FINISH_OBJECTIVES:
        best = optimum(instance, objective)
        if best is not None:
            assert energetic(instance, objective) <= probing(instance, objective) <= best


@pytest.mark.parametrize("bound", [energetic, probing, fernandez_bussell, srpt, mean_busy_time])
@given(instance=dag_instances(max_tasks=5, servers=True))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_never_above_the_optimum_under_contention(
    bound: Callable[[DagInstance, Objective, Contention], int], instance: DagInstance
) -> None:
    """Tests for both objectives that what begins with heads that know contention is never above its optimum."""
    for objective in FINISH_OBJECTIVES:
        best = optimum_with_nics(instance, objective)
        assert best is None or bound(instance, objective, Contention.NIC) <= best
