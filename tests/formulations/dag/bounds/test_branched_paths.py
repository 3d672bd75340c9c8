"""Tests of branch and bound over the linear program of placement, memory and all paths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.dag.bounds.branched_paths import PlacementSearch, branched_paths
from formulations.dag.bounds.paths import ancestor_aware_path, join_aware_path
from formulations.dag.bounds.placed_paths import placed_paths
from formulations.dag.bounds.placement_rows import LineStep, forks_and_joins, lines_of_tasks, stretches
from formulations.multipliers import ScaledProblem
from instances.clusters.cost_model import CostModel
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from instances.generators.dag.generate import generate
from tests.brute_force import optimum
from tests.placed_programs import chain_of_three, spoiled
from tests.strategies import dag_instances
from tests.test_tight_bounds import tight_instance

MAKESPAN = Objective.MAKESPAN


def searched(instance: DagInstance, **limits: int | None) -> PlacementSearch:
    """Return a search after one run."""
    search = PlacementSearch(instance)
    search.run(**limits)
    return search


def test_a_transfer_that_memory_forces() -> None:
    """Tests a chain that no GPU holds: split evenly it pays no transfer, whole tasks pay one."""
    instance = chain_of_three()
    assert placed_paths(instance, MAKESPAN) == 14
    found = searched(instance)
    assert found.bound == optimum(instance, MAKESPAN) == 24
    assert sorted(found.placements[0].tolist()) == [0, 0, 1]
    assert branched_paths(instance, Objective.WEIGHTED_COMPLETION) == 0


def test_work_between_a_fork_and_its_join() -> None:
    """Tests two branches that no other GPU may take: they follow each other, and a task elsewhere does not count."""
    instance = DagInstance.from_lists(
        [[1, 1], [5, None], [6, None], [None, 7], [1, 1]],
        edges=[(0, 1, 0), (0, 2, 0), (0, 3, 0), (1, 4, 0), (2, 4, 0), (3, 4, 0)],
    )
    found = [(fork, join, np.flatnonzero(between).tolist()) for fork, join, between in forks_and_joins(instance)]
    assert found == [(0, 4, [1, 2, 3])]
    assert placed_paths(instance, MAKESPAN) <= branched_paths(instance, MAKESPAN) == optimum(instance, MAKESPAN) == 13


def test_forks_before_all_tasks_and_joins_behind_them() -> None:
    """Tests two tasks that join, a fork that never joins, and a chain, which has neither."""
    edges = [(0, 2, 0), (1, 2, 0), (2, 3, 0), (3, 4, 0), (3, 5, 0)]
    instance = DagInstance.from_lists([[1]] * 6, edges=edges)
    found = {(fork, join): np.flatnonzero(between).tolist() for fork, join, between in forks_and_joins(instance)}
    assert found == {(-1, 2): [0, 1], (3, 6): [4, 5]}
    assert list(forks_and_joins(chain_of_three())) == []


def test_lines_of_a_fork_and_its_join() -> None:
    """Tests the path with most memory, and what is between two tasks, but for one that no edge with data joins."""
    edges = [(0, 1, 3), (0, 2, 4), (1, 3, 6), (2, 3, 5), (0, 4, 0), (4, 3, 2), (3, 5, 7)]
    instance = DagInstance.from_lists([[1]] * 6, edges=edges, task_memory=[1, 8, 2, 4, 1, 32])
    usable = np.flatnonzero(instance.edge_bytes > 0).tolist()
    path, trunk = lines_of_tasks(instance, usable)
    assert [step.own for step in path] == [1, 8, 4, 32]
    assert [step.memory for step in path] == [1, 8, 4, 32]
    ends = [[instance.edges[edge].tolist() for edge in step.edges] for step in path]
    assert ends == [[], [[0, 1]], [[1, 3]], [[3, 5]]]
    assert [step[:2] for step in trunk] == [(1, 1), (4, 14), (32, 32)]
    ends = [sorted(instance.edges[edge].tolist() for edge in step.edges) for step in trunk]
    assert ends == [[], [[0, 1], [0, 2], [1, 3]], [[3, 5]]]
    few = [edge for edge in usable if instance.edges[edge].tolist() != [3, 5]]
    assert [[step.own for step in line] for line in list(lines_of_tasks(instance, few))[1:]] == [[1, 4], [32]]


def test_stretches_are_the_shortest_that_no_rooms_hold() -> None:
    """Tests rooms of several sizes; of a first step the task itself counts alone."""
    line = [LineStep(3, 3, []), LineStep(1, 2, [7, 8]), LineStep(3, 3, [9]), LineStep(4, 4, [5])]
    assert list(stretches(line, [5, 4, 4])) == [((7, 8, 9), 1), ((5,), 1), ((7, 8, 9, 5), 2)]
    assert list(stretches(line, [4, 4, 4])) == [((7, 8), 1), ((5,), 1), ((7, 8, 9, 5), 2)]
    assert list(stretches(line, [6, 6])) == [((7, 8, 9), 1), ((5,), 1)]
    assert list(stretches(line, [12, 1])) == []


def test_crossings_that_memory_forces_without_branching() -> None:
    """Tests a chain on equal GPUs that holds all but one of them full: its first program has every crossing."""
    instance = DagInstance.from_lists(
        [[3] * 4] * 7,
        edges=[(i, i + 1, 5 + i % 2) for i in range(6)],
        task_memory=[2] * 7,
        gpu_memory=[4] * 4,
    )
    assert placed_paths(instance, MAKESPAN) == 21
    assert searched(instance, most_programs=1).bound == optimum(instance, MAKESPAN) == 36


def test_equal_gpus_are_told_apart_once() -> None:
    """Tests a chain on GPUs that can be swapped: whether there are two or eight takes equally many programs."""
    counts = []
    for m in (2, 8):
        instance = DagInstance.from_lists(
            [[3] * m] * 3, edges=[(0, 1, 5), (1, 2, 5)], task_memory=[1] * 3, gpu_memory=[2] * m, num_gpus=m
        )
        assert placed_paths(instance, MAKESPAN) == 9
        counts.append(next(c for c in range(1, 40) if searched(instance, most_programs=c).bound == 14))
    assert counts[0] == counts[1]


@given(instance=dag_instances(max_tasks=5), above=st.integers(-3, 1))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_bound_is_never_above_the_optimum(instance: DagInstance, above: int) -> None:
    """Tests against brute force, with a schedule that is known too, and against the bound of split placements."""
    best, value = optimum(instance, MAKESPAN), branched_paths(instance, MAKESPAN)
    if best is None:
        return
    assert placed_paths(instance, MAKESPAN) <= value <= best
    known = max(0, best + above)
    assert searched(instance, at_most=known).bound <= max(known, ancestor_aware_path(instance, MAKESPAN))
    assert searched(instance, at_most=best + 1).bound <= best + (value > best)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1_000, 100))
def test_bound_is_never_above_the_optimum_where_memory_is_tight(first: int) -> None:
    """Tests 1,000 instances with tight memory, forbidden GPUs and equal GPUs, and `placed_paths` beside it."""
    for number in range(first, first + 100):
        instance = tight_instance(number)
        best = optimum(instance, MAKESPAN)
        assert best is not None
        assert placed_paths(instance, MAKESPAN) <= branched_paths(instance, MAKESPAN) <= best, number


def test_limits_leave_what_is_proved() -> None:
    """Tests no time, few programs, no tasks, and that more programs prove no less."""
    instance = generate("layered", tasks=20, seed=1, cost=CostModel(memory_tightness=0.8))
    assert searched(instance, seconds_left=lambda: 0.0).bound == ancestor_aware_path(instance, MAKESPAN)
    assert branched_paths(DagInstance.from_lists([], num_gpus=2), MAKESPAN) == 0
    bounds = [searched(instance, most_programs=count).bound for count in (1, 20, 200)]
    assert bounds == sorted(bounds)
    assert placed_paths(instance, MAKESPAN) <= bounds[0] < bounds[2]


@pytest.mark.parametrize("calls", [2, 5, 30, 60])
def test_time_that_runs_out_anywhere_leaves_a_bound(calls: int) -> None:
    """Tests a limit that strikes between and within linear programs, and that the search then goes on to its end."""
    search, left = PlacementSearch(chain_of_three()), iter([1.0] * calls)
    search.run(seconds_left=lambda: next(left, 0.0))
    assert join_aware_path(chain_of_three(), MAKESPAN) <= search.bound <= 24
    search.run()
    assert search.bound == 24


def test_a_known_schedule_counts_in_later_runs() -> None:
    """Tests that nodes closed for a shorter schedule do not count as proof of more where none is given later."""
    instance = generate("layered", tasks=20, seed=1, cost=CostModel(memory_tightness=0.8))
    first, last = (searched(instance, most_programs=count).bound for count in (1, 200))
    search = PlacementSearch(instance)
    search.run(at_most=first + 1, most_programs=200)
    search.run(most_programs=400)
    assert search.bound == first + 1 < last


def test_wrong_answers_of_the_solver_never_raise_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests multipliers and rays that are random numbers: the integers decide what they prove."""
    monkeypatch.setattr(ScaledProblem, "multipliers", spoiled(ScaledProblem.multipliers))
    for number in range(40):
        instance = tight_instance(number)
        assert searched(instance, most_programs=60).bound <= optimum(instance, MAKESPAN), number


def test_same_result_again() -> None:
    """Tests that nothing is left to chance."""
    instance = generate("transformer", tasks=20, seed=1, cost=CostModel(memory_tightness=0.9))
    first, again = (searched(instance, most_programs=100) for _ in range(2))
    assert first.bound == again.bound
    assert [gpu.tolist() for gpu in first.placements] == [gpu.tolist() for gpu in again.placements]
