"""Tests that the network before a training can be made again from the seed alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from heuristics.jobs.marl.observation import ObservationSize
from heuristics.jobs.marl.parameters import Variant, initial_parameters
from heuristics.jobs.marl.training.train import MarlTrainer
from heuristics.jobs.marl.training.training_instance import validation_set
from heuristics.jobs.marl.untrained_network import untrained_network
from tests.heuristics.jobs.marl.training.tiny import tiny


def test_first_stream_of_the_seed() -> None:
    """Tests the weights against those drawn from the first of five streams, and that each seed has its own."""
    given: dict[str, Any] = {"kappa": 12.5, "variant": "inner", "kinds": ["A", "B"], "num_agents": 3}
    network = untrained_network(7, **given)
    rng, *_ = (np.random.default_rng(child) for child in np.random.SeedSequence(7).spawn(5))
    size = ObservationSize(kinds=("A", "B"), num_agents=3, num_servers=9, num_gpus=8, num_racks=2)
    expected = initial_parameters(rng, size, Variant.INNER)
    assert {name: array.tobytes() for name, array in network.parameters.items()} == {
        name: array.tobytes() for name, array in expected.items()
    }
    assert (network.kappa, network.variant, network.kinds, network.num_agents) == (12.5, Variant.INNER, ("A", "B"), 3)
    assert untrained_network(7, **given).sha256 == network.sha256 != untrained_network(8, **given).sha256


def test_a_training_begins_with_it() -> None:
    """Tests that a trainer's first network is made again from its seed and what a network says of itself."""
    settings = tiny(updates=0, imitation_episodes=0)
    trainer = MarlTrainer(settings, seed=11).fit(validation_set(settings))
    like = trainer.network_
    again = untrained_network(11, kappa=like.kappa, variant=like.variant, kinds=like.kinds, num_agents=like.num_agents)
    assert again.sha256 == trainer.start_network_.sha256 == trainer.network_.sha256
