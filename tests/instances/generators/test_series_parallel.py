from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from instances.generators.series_parallel import series_parallel


def reduces_to_one_edge(num_tasks: int, edges: list[tuple[int, int]]) -> bool:
    """Say whether series and parallel reductions (Valdes, Tarjan, Lawler) leave one edge from first to last task."""
    links = set(edges)  # parallel reduction is what a set does
    while True:
        into, out_of = Counter(head for _, head in links), Counter(tail for tail, _ in links)
        inner = next((t for t in range(num_tasks) if into[t] == 1 and out_of[t] == 1), None)
        if inner is None:
            return links == {(0, num_tasks - 1)}
        before = next(edge for edge in links if edge[1] == inner)
        after = next(edge for edge in links if edge[0] == inner)
        links = (links - {before, after}) | {(before[0], after[1])}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tasks", [2, 3, 4, 5, 40, 101])
def test_it_is_series_parallel(tasks: int, seed: int) -> None:
    """Tests that the graph has the exact size and that series and parallel reductions leave a single edge."""
    graph = series_parallel(np.random.default_rng(seed), tasks=tasks)
    assert len(graph.task_names) == tasks
    assert reduces_to_one_edge(tasks, [(tail, head) for tail, head, _ in graph.edges])


def test_extreme_probabilities() -> None:
    """Tests that probability 0 gives a chain and 1 with two branches a source with two successors."""
    chain = series_parallel(np.random.default_rng(1), tasks=30, parallel_probability=0.0)
    assert [edge[:2] for edge in chain.edges] == [(task, task + 1) for task in range(29)]
    block = series_parallel(np.random.default_rng(1), tasks=30, parallel_probability=1.0, max_branches=2)
    assert sum(tail == 0 for tail, _, _ in block.edges) == sum(head == 29 for _, head, _ in block.edges) == 2


def test_one_task() -> None:
    """Tests that one task has no edge."""
    graph = series_parallel(np.random.default_rng(1), tasks=1)
    assert (list(graph.task_names), list(graph.edges)) == (["t0"], [])
