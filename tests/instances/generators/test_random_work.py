from __future__ import annotations

import numpy as np
import pytest

from instances.generators.random_work import FLOPS_RANGE, INTENSITY_RANGE, edge_array, random_graph
from instances.gpu_catalogue import gpu_kind


def test_ranges_and_edges() -> None:
    """Tests that sizes and intensities keep to their ranges and every edge carries the output of its tail."""
    names = [f"t{task}" for task in range(500)]
    graph = random_graph("g", names, edge_array([(0, 1), (0, 2), (1, 2)]), np.random.default_rng(1))
    flops, moved = np.array(graph.flops), np.array(graph.moved_bytes)
    assert FLOPS_RANGE[0] <= flops.min() < 1.1 * FLOPS_RANGE[0]
    assert 0.9 * FLOPS_RANGE[1] < flops.max() <= FLOPS_RANGE[1]
    assert np.exp(np.log(flops / moved).mean()) == pytest.approx(np.sqrt(np.prod(INTENSITY_RANGE)), rel=0.15)
    (_, _, first), (_, _, second), (_, _, third) = graph.edges
    assert first == second != third
    assert first <= graph.memory_bytes[0] <= 2 * first
    assert 0.01 * moved[0] <= first <= 0.04 * moved[0] + 1


def test_kinds_rank_differently_from_task_to_task() -> None:
    """Tests that T4 beats P100 on a fair share of random tasks and loses on a fair share."""
    graph = random_graph("g", ["t"] * 1000, edge_array([]), np.random.default_rng(1))
    t4, p100 = (
        gpu_kind(name).roofline_seconds(np.array(graph.flops), np.array(graph.moved_bytes), precision="fp16")
        for name in ("T4", "P100")
    )
    assert 0.3 < (t4 < p100).mean() < 0.7
