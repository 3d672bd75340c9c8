"""Tests of branch and bound on GPUs and windows: schedules within a makespan, or its refutation."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from formulations.dag.bounds.branched_windows import FIRST_WORK, WindowClimb, WindowSearch, branched_windows, work_at
from formulations.dag.bounds.refuted_makespans import probing
from formulations.dag.probing.refuter import NO_LIMIT
from heuristics.dag.list_scheduling import heft
from instances.clusters.cluster import parse_cluster
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from solvers.solve import solve
from tests.brute_force import optimum
from tests.strategies import dag_instances
from tests.test_tight_bounds import tight_instance

if TYPE_CHECKING:
    from formulations.dag.bounds.branched_windows import Way

MAKESPAN = Objective.MAKESPAN


@pytest.fixture(scope="module")
def needs_branches() -> DagInstance:
    """Return an instance whose optimum probing does not prove."""
    return generate("independent", tasks=18, seed=0, cluster=parse_cluster("mixed-4"))


def searched(instance: DagInstance, makespan: int, *, threads: int = 1) -> int | None:
    """Return the makespan of a schedule within one, None where it is refuted."""
    search = WindowSearch(instance)
    search.run(makespan, threads=threads)
    if search.is_refuted:
        assert search.makespan > makespan
        return None
    assert search.schedule is not None
    assert verify_dag_schedule(instance, search.schedule) == []
    value = objective_value(instance, search.schedule, MAKESPAN)
    assert value == search.makespan <= makespan
    return value


def best_on_the_way_down(instance: DagInstance, makespan: int) -> int:
    """Return the best makespan of one search that goes on below every schedule that it finds."""
    search, found = WindowSearch(instance), makespan + 1
    while not search.is_refuted:
        search.run(found - 1)
        if not search.is_refuted:
            assert search.schedule is not None
            found = objective_value(instance, search.schedule, MAKESPAN)
    return found


@pytest.mark.parametrize("threads", [1, 2])
def test_finds_the_optimum_and_refutes_all_below(threads: int) -> None:
    """Tests a search within the optimum, and within one tick less, with tight memory and equal GPUs."""
    for number in range(20):
        instance = tight_instance(number)
        best = optimum(instance)
        assert best is not None
        assert (searched(instance, best, threads=threads), searched(instance, best - 1, threads=threads)) == (
            best,
            None,
        )


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(dag_instances(max_tasks=5))
def test_agrees_with_brute_force(instance: DagInstance) -> None:
    """Tests a climb from 0 up to the optimum, or to the horizon where there is no schedule."""
    best = optimum(instance)
    climb = WindowClimb(instance, None, 0)
    climb.run(most_work=NO_LIMIT)
    if best is None:
        assert climb.schedule is None
    else:
        assert climb.bound == best
        assert climb.schedule is None or objective_value(instance, climb.schedule, MAKESPAN) == best
    assert climb.is_settled


def test_proves_more_than_probing(needs_branches: DagInstance) -> None:
    """Tests the bound where probing alone does not prove the optimum."""
    bound = branched_windows(needs_branches, MAKESPAN)
    assert probing(needs_branches, MAKESPAN) == 228 < bound == 230
    assert searched(needs_branches, bound) == bound
    assert branched_windows(needs_branches, Objective.WEIGHTED_COMPLETION) == 0


def test_goes_on_where_it_was(needs_branches: DagInstance) -> None:
    """Tests that a search in many short runs refutes what one long run refutes, with as many nodes."""
    best = branched_windows(needs_branches, MAKESPAN)
    at_once, in_steps = WindowSearch(needs_branches), WindowSearch(needs_branches)
    at_once.run(best - 1)
    while not in_steps.is_refuted:
        in_steps.run(best - 1, most_work=1)
    assert at_once.is_refuted
    assert in_steps.nodes == at_once.nodes > 1


def test_refutes_in_the_same_nodes_with_two_threads(needs_branches: DagInstance) -> None:
    """Tests that it does not matter which thread works on a node."""
    alone, together = WindowSearch(needs_branches), WindowSearch(needs_branches)
    alone.run(229)
    together.run(229, threads=2)
    assert alone.is_refuted
    assert (together.is_refuted, together.nodes, together.work) == (True, alone.nodes, alone.work)


def test_climb_goes_on_below_a_schedule(needs_branches: DagInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the search that finds a schedule is the one that looks for a better one."""
    runs: list[tuple[WindowSearch, int, float]] = []
    run = WindowSearch.run

    def recorded(search: WindowSearch, makespan: int, **limits: Any) -> None:
        run(search, makespan, **limits)
        runs.append((search, makespan, search.makespan))

    monkeypatch.setattr(WindowSearch, "run", recorded)
    climb = WindowClimb(needs_branches, None, 229)
    climb.run(most_work=NO_LIMIT)
    assert climb.bound == 230
    assert climb.forecast() == 0.0
    below = [(one, two) for one, two in itertools.pairwise(runs) if one[2] <= one[1] and two[1] == one[2] - 1]
    assert below
    assert all(one[0] is two[0] for one, two in below)


def test_climb_attempts_the_last_makespan_where_it_is_stuck(
    needs_branches: DagInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that the one below the schedule comes after the one next to the bound, if that one is not decided."""
    attempts: list[int] = []

    def undecided(search: WindowSearch, makespan: int, *, most_work: int, **limits: Any) -> None:
        attempts.append(makespan)
        search.work += most_work

    monkeypatch.setattr(WindowSearch, "run", undecided)
    start = heft(needs_branches)
    last = objective_value(needs_branches, start, MAKESPAN) - 1
    climb = WindowClimb(needs_branches, start, last - 7)
    climb.run(most_work=10 * FIRST_WORK)
    assert attempts[:6] == [last - 6, last - 7, last, last - 4, last - 6, last - 7]


def test_goes_on_with_a_lower_makespan(needs_branches: DagInstance) -> None:
    """Tests better and better schedules of one search, up to the proof."""
    found = best_on_the_way_down(needs_branches, probing(needs_branches, MAKESPAN) * 2)
    assert found == branched_windows(needs_branches, MAKESPAN)


@pytest.mark.parametrize("above", [3, 10, 1000])
def test_loses_no_schedule_on_the_way_down(above: int) -> None:
    """Tests searches that go on from above the optimum, with cases of early and late starts that are open by then."""
    some = [tight_instance(number) for number in range(50)]
    families, cluster = ("layered", "erdos-renyi", "series-parallel"), parse_cluster("mixed-3")
    some += [generate(family, tasks=12, seed=seed, cluster=cluster) for family in families for seed in range(6)]
    for instance in some:
        best = solve(instance, "cp-sat", threads=1, seed=0).objective
        assert best is not None
        assert best_on_the_way_down(instance, best + above) == best


def test_keeps_a_schedule_that_ends_later(needs_branches: DagInstance) -> None:
    """Tests that a search which refutes its makespan keeps the best schedule that it built, and a climb takes it."""
    search = WindowSearch(needs_branches)
    search.run(229)
    assert search.is_refuted
    assert search.schedule is not None
    assert verify_dag_schedule(needs_branches, search.schedule) == []
    assert 230 <= search.makespan == objective_value(needs_branches, search.schedule, MAKESPAN)
    climb = WindowClimb(needs_branches, None, 229)
    climb.run(most_work=1)
    assert climb.schedule is not None
    assert climb.work > 0


def test_builds_schedules_as_it_is_told(needs_branches: DagInstance) -> None:
    """Tests that a builder gets GPUs and orders, and that a search without any schedule is undecided."""
    seen: list[Way] = []

    def build(ways: list[Way]) -> None:
        seen.extend(ways)

    search = WindowSearch(needs_branches, build)
    search.run(230, most_work=200_000_000)
    assert search.schedule is None
    assert not search.is_refuted
    assert all(needs_branches.allowed[np.arange(len(gpu)), gpu].all() for gpu, _ in seen)
    assert {order.shape for _, order in seen} == {(needs_branches.num_tasks,)}


def test_forecast() -> None:
    """Tests that the work doubles from tick to tick, or more where an undecided makespan says so."""
    assert work_at(14, [], []) == math.inf
    assert work_at(14, [(10, 50)], []) == math.inf
    assert work_at(14, [(10, 50), (11, 90), (12, 200)], []) == pytest.approx(200 * (200 / 50))
    assert work_at(17, [(10, 50), (11, 90), (12, 200)], []) == math.inf
    assert work_at(14, [(10, 50), (12, 200)], [(13, 150)]) == pytest.approx(800)
    assert work_at(14, [(10, 50), (12, 200)], [(13, 1000)]) == pytest.approx(200 * 10**2)
    assert work_at(14, [(10, 90), (12, 30)], []) == 30


def test_time_that_is_over_refutes_nothing(needs_branches: DagInstance) -> None:
    """Tests that nothing is searched or refuted without time."""
    search = WindowSearch(needs_branches)
    search.run(229, seconds_left=lambda: 0.0)
    assert not search.is_refuted
    assert search.nodes == 0


def test_no_schedule_at_all() -> None:
    """Tests three tasks of which no two fit on either of two GPUs."""
    instance = DagInstance.from_lists([[3, 3]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3])
    assert searched(instance, 10) is None
