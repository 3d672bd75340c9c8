"""Tests of random trees."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from instances.generators.dag.trees import in_tree, out_tree


@pytest.mark.parametrize("tasks", [1, 2, 100])
def test_out_tree(tasks: int) -> None:
    """Tests that all tasks but the first have one predecessor and none has more successors than allowed."""
    graph = out_tree(np.random.default_rng(1), tasks=tasks, max_children=2)
    assert sorted(head for _, head, _ in graph.edges) == list(range(1, tasks))
    assert all(tail < head for tail, head, _ in graph.edges)
    assert max(Counter(tail for tail, _, _ in graph.edges).values(), default=0) == min(tasks - 1, 2)


@pytest.mark.parametrize("tasks", [1, 2, 100])
def test_in_tree(tasks: int) -> None:
    """Tests that all tasks but the last have one successor and none has more predecessors than allowed."""
    graph = in_tree(np.random.default_rng(1), tasks=tasks, max_children=2)
    assert sorted(tail for tail, _, _ in graph.edges) == list(range(tasks - 1))
    assert all(tail < head for tail, head, _ in graph.edges)
    assert max(Counter(head for _, head, _ in graph.edges).values(), default=0) == min(tasks - 1, 2)


def test_one_child_gives_a_chain() -> None:
    """Tests that trees whose tasks have one child are chains."""
    chain = [(task, task + 1) for task in range(9)]
    for tree in (in_tree, out_tree):
        assert [edge[:2] for edge in tree(np.random.default_rng(1), tasks=10, max_children=1).edges] == chain
