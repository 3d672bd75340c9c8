"""Rounds that untrained agents play, for tests."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.marl.gossip.round_walk import RoundWalk
from heuristics.jobs.marl.network import Variant, initial_parameters
from heuristics.jobs.marl.observation import ObservationSize
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.training.instances import training_instance

if TYPE_CHECKING:
    from heuristics.jobs.marl.gossip.round_walk import PlayedRound
    from heuristics.jobs.marl.gossip.settings import GossipSettings
    from heuristics.jobs.marl.network import Parameters

KAPPA = 3e4


def observation_size(settings: GossipSettings) -> ObservationSize:
    """Return the size of all observations."""
    instance = training_instance(settings, np.random.default_rng(0))
    return ObservationSize.of(Partitions(instance, settings.num_agents))


def untrained(settings: GossipSettings) -> list[Parameters]:
    """Return different weights for each agent."""
    size = observation_size(settings)
    return [initial_parameters(np.random.default_rng(seed), size, Variant.FLAT) for seed in range(settings.num_agents)]


def walk_of(settings: GossipSettings) -> RoundWalk:
    """Return a walk from seeds 3 (instances) and 4 (slots)."""
    return RoundWalk(
        settings,
        np.random.default_rng(3),
        np.random.default_rng(4),
        kappa=KAPPA,
        size=observation_size(settings),
        predictor=None,
    )


def played(settings: GossipSettings, counts: list[int]) -> list[PlayedRound]:
    """Return rounds, played in several calls; the same rounds again from the second time on."""
    return list(_played(settings, tuple(counts)))


@cache
def _played(settings: GossipSettings, counts: tuple[int, ...]) -> list[PlayedRound]:
    """Play once."""
    walk = walk_of(settings)
    return [one for count in counts for one in walk.play(untrained(settings), count)]
