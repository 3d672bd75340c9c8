"""Tests that a start keeps its best network and the means of its updates."""

from __future__ import annotations

from heuristics.jobs.marl.training.training_start import TrainingStart
from heuristics.jobs.marl.untrained_network import untrained_network


def test_the_older_one_is_kept_on_a_tie() -> None:
    """Tests a better network, one that is as good, and that updates count for the next measurement only."""
    networks = [untrained_network(seed, kappa=2.0, variant="flat", kinds=("A",), num_agents=2) for seed in range(3)]
    start = TrainingStart(networks[0])
    start.add_validation(0, 1.5, networks[0])
    start.add_update(2.0, 0.5, 1.0)
    start.add_update(4.0, 0.25, 3.0)
    start.add_validation(2, 1.25, networks[1])
    start.add_validation(3, 1.25, networks[2])
    assert (start.best, start.network) == (1.25, networks[1])
    assert start.curve == [(0, 1.5, None, None, None), (2, 1.25, 3.0, 0.375, 2.0), (3, 1.25, None, None, None)]
