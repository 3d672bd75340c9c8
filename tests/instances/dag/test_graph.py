"""Tests of topological orders."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances.dag.graph import topological_order, within_jobs
from instances.dag.instance import DagInstance


def test_smallest_order_by_hand() -> None:
    """Tests that the smallest ready task always goes next."""
    edges = np.array([[4, 0], [0, 2], [3, 1]])
    assert topological_order(5, edges).tolist() == [3, 1, 4, 0, 2]


def test_no_tasks() -> None:
    """Tests that nothing is ordered where there is nothing."""
    order = topological_order(0, np.zeros((0, 2), dtype=np.int64))
    assert (order.tolist(), order.dtype) == ([], np.int64)


@given(data=st.data(), num_tasks=st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_smallest_of_all_permutations(data: st.DataObject, num_tasks: int) -> None:
    """Tests that no smaller permutation keeps all edges, on random graphs whose numbers are shuffled."""
    shuffled = data.draw(st.permutations(range(num_tasks)))
    pairs = [(shuffled[tail], shuffled[head]) for head in range(num_tasks) for tail in range(head)]
    edges = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    smallest = next(
        order
        for order in permutations(range(num_tasks))
        if all(order.index(tail) < order.index(head) for tail, head in edges)
    )
    array = np.array(edges, dtype=np.int64).reshape(-1, 2)
    assert topological_order(num_tasks, array).tolist() == list(smallest)


@pytest.mark.parametrize(
    ("edges", "cycle"),
    [
        ([[0, 1], [1, 0]], "0 -> 1 -> 0"),
        ([[0, 1], [1, 2], [2, 3], [3, 1]], "1 -> 2 -> 3 -> 1"),
        ([[3, 2], [2, 3], [0, 1], [3, 1]], "3 -> 2 -> 3"),
        ([[0, 0]], "0 -> 0"),
    ],
)
def test_cycle_is_named(edges: list[list[int]], cycle: str) -> None:
    """Tests that the message shows one cycle and nothing that merely leads to or from it."""
    with pytest.raises(ValueError) as caught:
        topological_order(4, np.array(edges))
    shown = str(caught.value).removeprefix("edges: expected no cycle, got ").removesuffix(".").split(" -> ")
    steps = [[int(tail), int(head)] for tail, head in pairwise(shown)]
    assert shown[0] == shown[-1]
    assert all(step in edges for step in steps)
    assert set(shown) == set(cycle.split(" -> "))
    assert len(steps) == cycle.count("->")


def test_edges_within_jobs() -> None:
    """Tests an edge within a job, one between two jobs, and an instance without edges."""
    instance = DagInstance.from_lists(
        [[1]] * 3, [(0, 1, 0), (1, 2, 0)], job_of_task=[0, 0, 1], release=[0, 0], weight=[1, 1]
    )
    assert within_jobs(instance).tolist() == [True, False]
    assert within_jobs(DagInstance.from_lists([[1]])).tolist() == []
