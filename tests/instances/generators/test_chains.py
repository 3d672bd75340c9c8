from __future__ import annotations

import numpy as np
import pytest

from instances.generators.chains import chains


def test_chains_do_not_touch() -> None:
    """Tests that every chain is a path on tasks of its own and no chain is empty."""
    graph = chains(np.random.default_rng(1), tasks=30, chains=4)
    chain = [int(name[1:].split(".")[0]) for name in graph.task_names]
    assert sorted(set(chain)) == [0, 1, 2, 3]
    assert len(graph.task_names) == 30
    assert [edge[:2] for edge in graph.edges] == [(t - 1, t) for t in range(1, 30) if chain[t] == chain[t - 1]]
    assert len(graph.edges) == 26


def test_defaults_and_range() -> None:
    """Tests that there are about sqrt(n) chains by default and never more than tasks."""
    assert len(chains(np.random.default_rng(1), tasks=100).edges) == 90
    with pytest.raises(ValueError, match=r"chains: expected an integer in 1\.\.3, got 4\."):
        chains(np.random.default_rng(1), tasks=3, chains=4)
