"""Tests of the probing bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from formulations.dag.bounds import probing as module
from formulations.dag.bounds.energetic import energetic
from formulations.dag.bounds.fernandez_bussell import fernandez_bussell
from formulations.dag.bounds.mean_busy_time import mean_busy_time
from formulations.dag.bounds.probing import probing
from formulations.dag.bounds.srpt import srpt
from instances import DagInstance, Objective
from instances.contention import Contention
from instances.dag_from_graph import CostModel
from instances.generators import generate
from instances.generators.planted import planted_optimum
from solvers import solve
from tests.brute_force import optimum
from tests.brute_force_contention import optimum_with_nics
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from collections.abc import Callable


def test_examples(heft_example: DagInstance, window_example: DagInstance, join_example: DagInstance) -> None:
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
    for objective in Objective:
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
    for objective in Objective:
        best = optimum_with_nics(instance, objective)
        assert best is None or bound(instance, objective, Contention.NIC) <= best
