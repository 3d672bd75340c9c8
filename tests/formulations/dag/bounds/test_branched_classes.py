"""Tests of branch and bound on classes of GPUs below deadlines."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from formulations.dag.ancestor_balls import far_heads_and_tails
from formulations.dag.bounds.branched_classes import Case, ClassClimb, ClassSearch, branched_classes
from formulations.dag.bounds.paths import ancestor_aware_path
from formulations.dag.bounds.placed_paths import placed_paths
from formulations.dag.bounds.refuted_makespans import probing
from formulations.multipliers import ScaledProblem
from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from instances.generators.dag.generate import generate
from tests.brute_force import optimum
from tests.placed_programs import chain_of_three, spoiled
from tests.strategies import dag_instances
from tests.test_tight_bounds import tight_instance

MAKESPAN = Objective.MAKESPAN


def elimination() -> DagInstance:
    """Return a Gaussian elimination of 44 tasks that fills three kinds of GPUs, with long transfers."""
    cost = CostModel(memory_tightness=0.85, ccr=10.0)
    return generate("gaussian-elimination", tasks=44, seed=1, cluster=parse_cluster("h100-a100-l40s"), cost=cost)


def climbed(instance: DagInstance, proven: int, **limits: int | None) -> int:
    """Return the bound of a climb after one run."""
    climb = ClassClimb(instance, proven)
    climb.run(**limits)
    return climb.bound


def searched(instance: DagInstance, deadline: int, proven: int) -> ClassSearch | None:
    """Return a search below a deadline after one run; None where paths alone refute it."""
    around = far_heads_and_tails(instance, makespan_at_most=deadline)
    if not around.allowed.any(axis=1).all():
        return None
    search = ClassSearch(instance, around, deadline, proven)
    search.run()
    return search


def assert_at_most_the_optimum(instance: DagInstance, best: int) -> None:
    """Check climbs, with and without a known schedule, and searches below deadlines around the optimum."""
    path = ancestor_aware_path(instance, MAKESPAN)
    assert climbed(instance, path, most_programs=100) <= best
    assert climbed(instance, 0, at_most=best + 1, most_programs=100) <= best
    for deadline in {best - 1, best, best + 3, 2 * best}:
        for proven in {0, path} if deadline >= path else ():
            search = searched(instance, deadline, proven)
            assert deadline < best if search is None else search.bound <= min(best, deadline + 1)


def test_a_transfer_that_memory_forces() -> None:
    """Tests a chain that no GPU holds: split evenly it pays no transfer, whole tasks pay one."""
    instance = chain_of_three()
    assert placed_paths(instance, MAKESPAN) == 14
    assert climbed(instance, 0) == branched_classes(instance, MAKESPAN) == optimum(instance, MAKESPAN) == 24
    assert branched_classes(instance, Objective.WEIGHTED_COMPLETION) == 0


def test_cases_prove_what_no_bound_does_without_them() -> None:
    """Tests a graph on which probing, all ancestors and the program of all paths stay far below."""
    instance = elimination()
    alone = max(bound(instance, MAKESPAN) for bound in (probing, placed_paths, ancestor_aware_path))
    assert climbed(instance, alone, most_programs=60) > 1.05 * alone


def test_cases_are_kept_from_one_deadline_to_the_next() -> None:
    """Tests that the cases that refute a deadline are all there are, and that they begin the search below the next."""
    instance = elimination()
    deadline = 2500
    first = searched(instance, deadline, 2452)
    assert first is not None
    assert first.is_refuted
    assert first.programs > 1
    around = far_heads_and_tails(instance, makespan_at_most=deadline + 10)
    second = ClassSearch(instance, around, deadline + 10, deadline + 1, first.cases)
    second.run()
    assert second.is_refuted
    assert set(first.cases) <= set(second.cases)
    assert len(first.cases) > 1
    assert all(len(case.tasks) > 0 for case in first.cases)


def test_what_some_cases_prove_holds_in_these_alone() -> None:
    """Tests the cases of one task: the least of their bounds is a bound, and that of one may exceed the optimum."""
    instance = chain_of_three()
    bounds = []
    for number in range(3):
        around = far_heads_and_tails(instance, makespan_at_most=100)
        search = ClassSearch(instance, around, 100, 0, [Case().and_also(0, number)])
        search.run()
        bounds.append(search.bound)
    assert min(bounds) == 24 < max(bounds)


@given(instance=dag_instances(max_tasks=5))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_bound_is_never_above_the_optimum(instance: DagInstance) -> None:
    """Tests against brute force."""
    best = optimum(instance, MAKESPAN)
    if best is not None:
        assert_at_most_the_optimum(instance, best)


@pytest.mark.parametrize("number", range(0, 60, 2))
def test_bound_is_never_above_the_optimum_where_memory_is_tight(number: int) -> None:
    """Tests instances with tight memory, forbidden GPUs and equal GPUs."""
    best = optimum(tight_instance(number), MAKESPAN)
    assert best is not None
    assert_at_most_the_optimum(tight_instance(number), best)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 2_000, 100))
def test_bound_is_never_above_the_optimum_of_many(first: int) -> None:
    """Tests 2,000 such instances."""
    for number in range(first, first + 100):
        best = optimum(tight_instance(number), MAKESPAN)
        assert best is not None
        assert_at_most_the_optimum(tight_instance(number), best)


def test_limits_leave_what_is_proved() -> None:
    """Tests no time, few programs, no tasks, and that a climb goes on where it was stopped."""
    instance = elimination()
    stopped = ClassClimb(instance, 2452)
    stopped.run(seconds_left=lambda: 0.0)
    assert (stopped.bound, stopped.programs) == (2452, 0)
    assert branched_classes(DagInstance.from_lists([], num_gpus=2), MAKESPAN) == 0
    for most in range(3, 40, 3):
        stopped.run(most_programs=most)
    assert stopped.bound >= climbed(instance, 2452, most_programs=3)
    assert climbed(instance, 2452, at_most=2460) == 2460


@pytest.mark.parametrize("calls", [2, 5, 15, 40])
def test_time_that_runs_out_anywhere_leaves_a_bound(calls: int) -> None:
    """Tests a limit that strikes between and within linear programs, and that the climb then goes on to its end."""
    climb, left = ClassClimb(chain_of_three(), 1), iter([1.0] * calls)
    climb.run(seconds_left=lambda: next(left, 0.0))
    assert 1 <= climb.bound <= 24
    climb.run()
    assert climb.bound == 24


def test_wrong_answers_of_the_solver_never_raise_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests multipliers that are random numbers: the integers decide what they prove."""
    monkeypatch.setattr(ScaledProblem, "multipliers", spoiled(ScaledProblem.multipliers))
    for number in range(30):
        best = optimum(tight_instance(number), MAKESPAN)
        assert best is not None
        assert_at_most_the_optimum(tight_instance(number), best)
