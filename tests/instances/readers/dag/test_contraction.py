"""Tests of contracting tasks."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from instances.dag.graph import topological_order
from instances.dag.instance import DagInstance
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from instances.readers.dag.contraction import class_roots, contracted_edges, contracted_sums, remaining, zero_time_roots

Edges = list[tuple[int, int, int]]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[int], Edges]:
    """Draw times, many of them 0, and edges between tasks whose numbers are no topological order."""
    times = draw(st.lists(st.sampled_from([0, 0, 0, 2, 5]), min_size=1, max_size=9))
    order = draw(st.permutations(range(len(times))))
    pairs = [(tail, head) for position, head in enumerate(order) for tail in order[:position]]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=16)) if pairs else []
    return times, [(tail, head, draw(st.integers(0, 6))) for tail, head in chosen]


def is_acyclic(num_tasks: int, edges: Edges) -> bool:
    """Say whether there is a topological order."""
    try:
        topological_order(num_tasks, np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2))
    except ValueError:
        return False
    return True


def test_tasks_without_time_join_their_neighbours() -> None:
    """Tests a chain, a fork and a join by hand."""
    edges = [(0, 1, 3), (1, 2, 4), (0, 2, 9), (2, 3, 1), (2, 4, 1), (3, 5, 1), (4, 5, 1), (5, 6, 2)]
    roots = zero_time_roots([False, True, False, False, False, True, False], edges)
    assert roots == [0, 0, 2, 3, 4, 6, 6]
    assert remaining(roots) == [0, 2, 3, 4, 6]
    assert sorted(contracted_edges(edges, roots)) == [(0, 1, 9), (1, 2, 1), (1, 3, 1), (2, 4, 1), (3, 4, 1)]
    assert contracted_sums([1, 2, 4, 8, 16, 32, 64], roots) == [3, 4, 8, 16, 96]


def test_task_between_many_stays() -> None:
    """Tests that a task without time that has several predecessors and several successors remains."""
    edges = [(0, 2, 1), (1, 2, 1), (2, 3, 1), (2, 4, 1)]
    assert zero_time_roots([False, False, True, False, False], edges) == [0, 1, 2, 3, 4]


@given(graph=graphs())
def test_a_schedule_of_the_contracted_graph_is_one_of_the_graph(graph: tuple[list[int], Edges]) -> None:
    """Tests that a schedule of the contracted graph verifies on the graph, with the same times of what takes time."""
    times, edges = graph
    roots = zero_time_roots([time == 0 for time in times], edges)
    kept = remaining(roots)
    smaller = DagInstance.from_lists(
        [[ticks] * 2 for ticks in contracted_sums(times, roots)],  # type: ignore[list-item]
        contracted_edges(edges, roots),
    )
    gpu = np.zeros(len(times), dtype=np.int64)
    start = np.zeros(len(times), dtype=np.int64)
    free = [0, 0]
    for position, task in enumerate(smaller.topological_order.tolist()):
        k = position % 2
        begin = free[k]
        for (tail, head), data in zip(smaller.edges.tolist(), smaller.edge_bytes.tolist(), strict=True):
            if head == task:
                delay = data if gpu[kept[tail]] != k else 0
                begin = max(begin, start[kept[tail]] + int(smaller.durations[tail, 0]) + delay)
        gpu[kept[task]], start[kept[task]] = k, begin
        free[k] = begin + int(smaller.durations[task, 0])
    whole = DagInstance.from_lists([[time] * 2 for time in times], edges)
    gpu = gpu[roots]
    for task in whole.topological_order.tolist():
        if roots[task] != task:  # as soon as its data is there
            start[task] = max(
                (
                    start[tail] + times[tail] + (data if gpu[tail] != gpu[task] else 0)
                    for tail, head, data in edges
                    if head == task
                ),
                default=0,
            )
    assert all(times[task] == 0 for task in range(len(times)) if roots[task] != task)
    assert verify_dag_schedule(whole, DagSchedule(gpu=gpu, start=start, instance=whole)) == []


@given(graph=graphs(), data=st.data())
def test_classes_stay_apart_only_where_a_cycle_would_arise(graph: tuple[list[int], Edges], data: st.DataObject) -> None:
    """Tests that the result has no cycle, and that contracting any class that stays apart would give one."""
    times, edges = graph
    classes = data.draw(st.lists(st.integers(0, 3), min_size=len(times), max_size=len(times)))
    roots, apart = class_roots(classes, edges)
    assert is_acyclic(len(remaining(roots)), contracted_edges(edges, roots))
    for task, name in enumerate(classes):
        assert roots[task] == (task if name in apart else classes.index(name))
    for name in apart:
        forced = [classes.index(name) if classes[task] == name else root for task, root in enumerate(roots)]
        assert not is_acyclic(len(remaining(forced)), contracted_edges(edges, forced))
