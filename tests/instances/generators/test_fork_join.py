from __future__ import annotations

import numpy as np

from instances.generators.fork_join import fork_join


def test_two_phases_by_hand() -> None:
    """Tests names and edges of two phases of two parallel tasks."""
    graph = fork_join(np.random.default_rng(1), tasks=1, width=2, phases=2)
    assert list(graph.task_names) == ["S0", "P0.0", "P0.1", "S1", "P1.0", "P1.1", "S2"]
    ends = {edge[:2] for edge in graph.edges}
    assert ends == {(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)}


def test_nearest_size() -> None:
    """Tests that the number of phases comes as near as it can for the given width."""
    sizes = [len(fork_join(np.random.default_rng(1), tasks=tasks, width=4).task_names) for tasks in (1, 6, 8, 9, 101)]
    assert sizes == [6, 6, 6, 11, 101]
