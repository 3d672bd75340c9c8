from __future__ import annotations

import numpy as np
import pytest

from instances.generators.erdos_renyi import erdos_renyi


@pytest.mark.parametrize(("probability", "num_edges"), [(0.0, 0), (1.0, 45)])
def test_extreme_probabilities(probability: float, num_edges: int) -> None:
    """Tests that probability 0 gives no edge and 1 all forward pairs."""
    graph = erdos_renyi(np.random.default_rng(1), tasks=10, edge_probability=probability)
    assert (len(graph.task_names), len(graph.edges)) == (10, num_edges)


def test_density() -> None:
    """Tests that the share of forward pairs that are edges is the probability, and the default is three per task."""
    graph = erdos_renyi(np.random.default_rng(1), tasks=300, edge_probability=0.2)
    assert len(graph.edges) / (300 * 299 / 2) == pytest.approx(0.2, rel=0.03)
    assert all(tail < head for tail, head, _ in graph.edges)
    assert len(erdos_renyi(np.random.default_rng(1), tasks=1000).edges) == pytest.approx(3000, rel=0.06)


def test_probability_out_of_range() -> None:
    """Tests that a probability above 1 is refused."""
    with pytest.raises(ValueError, match=r"edge_probability: expected a number in 0\.\.1, got 1\.5\."):
        erdos_renyi(np.random.default_rng(1), tasks=10, edge_probability=1.5)
