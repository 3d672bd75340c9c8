"""Tests of taking tasks out of a plan, putting them in, and undoing it."""

from __future__ import annotations

from copy import deepcopy
from itertools import product

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heuristics.dag.reinsertion import move, neighbourhoods
from heuristics.dag.reinsertion.move import FAR, forget
from heuristics.dag.reinsertion.plan import Plan, copy_plan
from instances.dag.instance import DagInstance
from tests.compiled import compiled
from tests.heuristics.dag.reinsertion.plans import assert_consistent, plain_ways, random_plan
from tests.strategies import dag_instances

propagate_heads, propagate_tails = compiled(move.propagate_heads), compiled(move.propagate_tails)
put_in, take_out, undo = compiled(move.put_in), compiled(move.take_out), compiled(move.undo)
find_place = compiled(neighbourhoods.find_place)

many = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def out(instance: DagInstance, seed: int, tasks: list[int]):
    """Return a random plan with some tasks taken out, ways up to date."""
    graph, plan, journal = random_plan(instance, seed)
    positions = plan.task["position"][tasks]
    for task in tasks:
        take_out(graph, plan, journal, task)
    propagate_heads(graph, plan, journal, int(positions.min()))
    propagate_tails(graph, plan, journal, int(positions.max()))
    return graph, plan, journal


def put(graph, plan: Plan, journal, task: int, k: int, place: int) -> bool:
    """Put a task in and bring the ways up to date; False where that closes a cycle."""
    if not put_in(graph, plan, journal, task, k, place):
        return False
    propagate_heads(graph, plan, journal, plan.task["position"][task])
    propagate_tails(graph, plan, journal, plan.task["position"][task])
    return True


@given(instance=dag_instances(max_tasks=9, memory=False), seed=st.integers(0, 999))
@many
def test_new_plan(instance: DagInstance, seed: int) -> None:
    """Tests that a plan has all fields of its schedule right."""
    _, plan, _ = random_plan(instance, seed)
    assert_consistent(instance, plan)


@given(data=st.data(), instance=dag_instances(max_tasks=9, memory=False), seed=st.integers(0, 999))
@many
def test_any_reinsertion_is_consistent_or_undone(data: st.DataObject, instance: DagInstance, seed: int) -> None:
    """Tests that tasks put in anywhere give a consistent plan or a cycle, and that undoing restores every field."""
    tasks = data.draw(st.lists(st.integers(0, instance.num_tasks - 1), min_size=1, max_size=4, unique=True))
    graph, plan, journal = random_plan(instance, seed)
    before = deepcopy(plan)
    positions = plan.task["position"][tasks]
    for task in tasks:
        take_out(graph, plan, journal, task)
    propagate_heads(graph, plan, journal, int(positions.min()))
    propagate_tails(graph, plan, journal, int(positions.max()))
    closed = False
    for task in tasks:
        k = data.draw(st.sampled_from(np.flatnonzero(instance.allowed[task]).tolist()))
        place = data.draw(st.integers(0, int(plan.gpu[k]["count"])))
        if not put(graph, plan, journal, task, k, place):
            closed = True
            break
    if not closed:
        assert_consistent(instance, plan)
    undo(graph, plan, journal)
    assert not journal.counter[:6].any()
    assert not any(journal.mark[name].any() for name in ("head_dirty", "tail_dirty", "flag"))
    for name in ("task", "sink", "order", "gpu", "pred_delay", "succ_delay"):
        assert getattr(plan, name).tolist() == getattr(before, name).tolist(), name
    for k in range(instance.num_gpus):
        count = int(plan.gpu[k]["count"])
        assert plan.sequence[k, :count].tolist() == before.sequence[k, :count].tolist()


@given(data=st.data(), instance=dag_instances(max_tasks=8, memory=False), seed=st.integers(0, 999))
@many
def test_best_place_is_best(data: st.DataObject, instance: DagInstance, seed: int) -> None:
    """Tests that no GPU and no place without a cycle has a shorter way through the task than the place found."""
    task = data.draw(st.integers(0, instance.num_tasks - 1))
    graph, plan, _ = out(instance, seed, [task])
    no_waste = np.zeros((instance.num_tasks, instance.num_gpus))
    k, place = find_place(graph, plan, task, float(FAR), 0.0, no_waste, 0.0, 0.0, np.array([seed], dtype=np.uint64))
    ways = {}
    for other in np.flatnonzero(instance.allowed[task]).tolist():
        for position in range(int(plan.gpu[other]["count"]) + 1):
            graph, tried, fresh = out(instance, seed, [task])
            if put(graph, tried, fresh, task, other, position):
                heads, tails = plain_ways(instance, tried)
                ways[other, position] = heads[task] + int(tried.task["duration"][task]) + tails[task]
    chosen = ways[k, max(place, 0)]
    assert chosen == min(ways.values())
    assert chosen == min(ways[pair] for pair in product([k], range(int(plan.gpu[k]["count"]) + 1)) if pair in ways)


def test_limit_price_and_memory() -> None:
    """Tests that ways beyond the limit are left out, and that waste and memory beyond a GPU have their prices."""
    instance = DagInstance.from_lists([[4, 3, 2]], task_memory=[5], gpu_memory=[9, 9, 9])
    graph, plan, journal = random_plan(instance, 0)
    take_out(graph, plan, journal, 0)
    propagate_heads(graph, plan, journal, 0)
    propagate_tails(graph, plan, journal, 0)
    waste, state = np.array([[0.0, 5.0, 9.0]]), np.array([1], dtype=np.uint64)

    def chosen(limit: float, price: float, overflow_price: float) -> int:
        return int(find_place(graph, plan, 0, limit, price, waste, overflow_price, 0.0, state)[0])

    assert chosen(9.0, 0.0, 9.0) == chosen(9.0, 0.1, 9.0) == 2  # 4.0, 3.5, 2.9
    assert chosen(9.0, 1.0, 9.0) == 0
    plan.gpu["free_memory"] = [9, 9, 4]  # a byte too little
    assert (chosen(9.0, 0.0, 0.9), chosen(9.0, 0.0, 1.1)) == (2, 1)
    plan.gpu["free_memory"] = [9, 9, -7]  # five bytes more, whatever else is too much
    assert (chosen(9.0, 0.0, 0.19), chosen(9.0, 0.0, 0.21)) == (2, 1)
    assert find_place(graph, plan, 0, 1.0, 0.0, waste, 0.0, 0.0, state) == (-1, -1)


@given(instance=dag_instances(max_tasks=8, memory=False), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_copy(instance: DagInstance, seed: int) -> None:
    """Tests that a copied plan is consistent and does not share anything."""
    _, plan, _ = random_plan(instance, seed)
    graph, target, journal = random_plan(instance, seed + 1)
    copy_plan(plan, target)
    assert_consistent(instance, target)
    take_out(graph, target, journal, 0)
    forget(journal)
    assert_consistent(instance, plan)
