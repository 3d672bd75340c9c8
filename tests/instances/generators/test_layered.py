from __future__ import annotations

import numpy as np
import pytest

from instances.generators.layered import layered


@pytest.mark.parametrize(("tasks", "layers"), [(1, 1), (17, 17), (50, 1), (60, 6), (400, None)])
def test_sizes_and_layers(tasks: int, layers: int | None) -> None:
    """Tests that the number of tasks is exact, no layer is empty, and the longest chain has one task per layer."""
    graph = layered(np.random.default_rng(1), tasks=tasks, layers=layers)
    assert len(graph.task_names) == len(graph.flops) == len(graph.memory_bytes) == tasks
    layer = [int(name[1:].split(".")[0]) for name in graph.task_names]
    expected = layers or 20
    assert sorted(set(layer)) == list(range(expected))
    depth = [0] * tasks
    for tail, head, _ in sorted(graph.edges, key=lambda edge: edge[1]):
        assert layer[tail] == layer[head] - 1
        depth[head] = max(depth[head], depth[tail] + 1)
    assert depth == layer


def test_in_degree_and_jump() -> None:
    """Tests that the mean number of predecessors is as wished and that they come from as far back as allowed."""
    graph = layered(np.random.default_rng(2), tasks=2000, layers=20, in_degree=4.0, jump=3)
    layer = [int(name[1:].split(".")[0]) for name in graph.task_names]
    beyond_first = sum(1 for value in layer if value > 0)
    assert len(graph.edges) / beyond_first == pytest.approx(4.0, rel=0.05)
    assert {layer[head] - layer[tail] for tail, head, _ in graph.edges} == {1, 2, 3}
    assert len({edge[:2] for edge in graph.edges}) == len(graph.edges)


def test_a_chain_at_one_task_per_layer() -> None:
    """Tests that as many layers as tasks give a chain."""
    graph = layered(np.random.default_rng(3), tasks=5, layers=5)
    assert [edge[:2] for edge in graph.edges] == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_more_layers_than_tasks() -> None:
    """Tests that more layers than tasks are refused."""
    with pytest.raises(ValueError, match=r"layers: expected an integer in 1\.\.5, got 6\."):
        layered(np.random.default_rng(1), tasks=5, layers=6)
