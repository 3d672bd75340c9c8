"""Tests of the relaxed diagram of placements: by hand, against brute force, against schedules, and its limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from formulations.dag.ancestor_balls import far_heads_and_tails
from formulations.dag.bounds import relaxed_diagram as module
from formulations.dag.bounds.paths import ancestor_aware_path
from formulations.dag.bounds.relaxed_diagram import (
    NOTHING_LEFT,
    RelaxedDiagram,
    narrow_order,
    relaxed_diagram,
    solved_diagram,
)
from formulations.dag.left_shift import left_shift
from formulations.dag.windows import horizon
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from instances.generators.dag.generate import generate
from tests.brute_force import assert_below_optimum, optimum
from tests.drawn_schedules import drawn_schedule
from tests.strategies import dag_instances
from tests.test_tight_bounds import tight_instance

MAKESPAN = Objective.MAKESPAN


def skipping_blocks(blocks: int, num_gpus: int, holds: int) -> DagInstance:
    """Return blocks of two tasks behind a first one; the data of a task skips its successor, and costs more then."""
    edges = [edge for i in range(0, 2 * blocks, 2) for edge in ((i, i + 1, 10), (i + 1, i + 2, 10), (i, i + 2, 30))]
    tasks = 2 * blocks + 1
    return DagInstance.from_lists(
        [[1] * num_gpus] * tasks, edges, task_memory=[1] * tasks, gpu_memory=[holds] * num_gpus
    )


def test_a_stay_ends_inside_a_block_or_pays_for_what_skips() -> None:
    """Tests two blocks on GPUs of three tasks: the second block cannot join the first, so a skipping edge is paid."""
    instance = skipping_blocks(2, 3, 3)
    assert ancestor_aware_path(instance, MAKESPAN) == 25
    assert relaxed_diagram(instance, MAKESPAN) == 34 == optimum(instance)


def test_the_bound_is_exact_where_no_labels_were_merged() -> None:
    """Tests that a makespan which is not refuted leaves the least one, and that smaller ones are refuted."""
    instance = skipping_blocks(2, 3, 3)
    diagram = RelaxedDiagram(instance, far_heads_and_tails(instance))
    assert diagram.width == 2
    assert diagram.least_makespan(100) == 34
    assert diagram.is_exact
    assert diagram.least_makespan(33) == 34
    assert not diagram.is_exact


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(instance=dag_instances(max_tasks=6))
def test_it_is_between_the_ancestor_aware_path_and_the_optimum(instance: DagInstance) -> None:
    """Tests both objectives against brute force."""
    assert_below_optimum(instance, ancestor_aware_path, relaxed_diagram)


@pytest.mark.parametrize("most_labels", [1, 3, 10])
def test_merging_never_raises_the_bound(most_labels: int) -> None:
    """Tests tiny instances with tight memory: few labels prove at most what many do, and that at most the optimum."""
    for number in range(40):
        instance = tight_instance(number)
        diagram = RelaxedDiagram(instance, far_heads_and_tails(instance))
        best = optimum(instance, MAKESPAN)
        whole = diagram.least_makespan(10_000)
        assert diagram.is_exact
        assert diagram.least_makespan(10_000, most_labels=most_labels) <= whole <= best


def test_placements_fit_and_keep_the_longest_path() -> None:
    """Tests that placements of tiny instances and of drawn ones are within memory and take as long as their labels."""
    drawn = [drawn_schedule(number)[0] for number in range(10)]
    placed = 0
    for instance in [skipping_blocks(2, 3, 3), *map(tight_instance, range(40)), *drawn]:
        diagram = RelaxedDiagram(instance, far_heads_and_tails(instance))
        proven = diagram.least_makespan(horizon(instance))
        gpu = diagram.placement() if diagram.longest < NOTHING_LEFT else None
        if gpu is None:
            continue
        placed += 1
        schedule = left_shift(instance, gpu, np.argsort(instance.topological_order))
        assert verify_dag_schedule(instance, schedule) == []
        assert objective_value(instance, schedule, MAKESPAN) >= proven == diagram.longest
    assert placed >= 30


def test_the_placement_of_two_blocks_is_optimal() -> None:
    """Tests that the placement which the bound of two blocks leaves is that of an optimal schedule."""
    instance = skipping_blocks(2, 3, 3)
    bound, gpu = solved_diagram(instance, horizon(instance))
    schedule = left_shift(instance, gpu, np.arange(5))
    assert objective_value(instance, schedule, MAKESPAN) == bound == 34
    assert solved_diagram(instance, 33) == (34, None)


def random_schedule_holds(number: int) -> bool:
    """Say whether a drawn instance got a schedule; assert that no diagram refutes its makespan."""
    instance, schedule = drawn_schedule(number)
    if schedule is None:
        return False
    makespan = objective_value(instance, schedule, MAKESPAN)
    for around in (far_heads_and_tails(instance), far_heads_and_tails(instance, makespan_at_most=makespan)):
        diagram = RelaxedDiagram(instance, around)
        for most_labels in (2, 20, 200):
            assert diagram.least_makespan(makespan, most_labels=most_labels) <= makespan
    return True


def test_it_holds_for_random_schedules() -> None:
    """Tests makespans of schedules that keep to tight memory, with many labels, few, and hardly any."""
    assert sum(random_schedule_holds(number) for number in range(20)) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 2_100, 200))
def test_it_holds_for_random_schedules_at_length(first: int) -> None:
    """Tests the same on 2,000 instances."""
    assert sum(random_schedule_holds(number) for number in range(first, first + 200)) >= 100


def test_orders_are_topological_and_narrow() -> None:
    """Tests that a chain and a tree of many leaves need few tasks at a time, and that all orders are topological."""
    chains = generate("chains", tasks=30, seed=1)
    assert RelaxedDiagram(chains, far_heads_and_tails(chains)).width == 1
    leaves = [(leaf, 8 + leaf // 2, 1) for leaf in range(8)]
    tree = DagInstance.from_lists(
        [[1, 1]] * 15, [*leaves, *((8 + i, 12 + i // 2, 1) for i in range(4)), (12, 14, 1), (13, 14, 1)]
    )
    assert RelaxedDiagram(tree, far_heads_and_tails(tree)).width == 4
    for family in ("layered", "fft", "nasnet"):
        instance = generate(family, tasks=40, seed=2)
        place = np.argsort(narrow_order(instance))
        assert (place[instance.edges[:, 0]] < place[instance.edges[:, 1]]).all()


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that without time, and on wide graphs, the path with all ancestors is left."""
    instance = skipping_blocks(2, 3, 3)
    assert relaxed_diagram(instance, MAKESPAN, seconds_left=lambda: 0.0) <= 25
    monkeypatch.setattr(module, "MOST_WIDTH", 1)
    assert relaxed_diagram(instance, MAKESPAN) == 25


def test_what_has_no_schedule_and_no_tasks() -> None:
    """Tests four tasks that three GPUs cannot hold, and an instance without tasks."""
    tasks = DagInstance.from_lists(
        [[5] * 3] * 4, [(0, 1, 9), (1, 2, 9), (2, 3, 9)], task_memory=[2] * 4, gpu_memory=[3] * 3
    )
    assert relaxed_diagram(tasks, MAKESPAN) >= 4 * 5 + 3 * 9
    assert relaxed_diagram(DagInstance.from_lists([], num_gpus=2), MAKESPAN) == 0
