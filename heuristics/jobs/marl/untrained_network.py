"""The network that a training begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.marl.observation import ObservationSize
from heuristics.jobs.marl.parameters import Variant, initial_parameters
from heuristics.jobs.marl.trained_network import TrainedNetwork

if TYPE_CHECKING:
    from collections.abc import Sequence


def untrained_network(
    seed: int, *, kappa: float, variant: Variant | str, kinds: Sequence[str], num_agents: int, start: int = 0
) -> TrainedNetwork:
    """Return the first weights of the training of a seed, the same on every machine.

    Parameters
    ----------
    seed
        Of the training; the weights are drawn from its first stream.
    kappa, variant, kinds, num_agents
        See `TrainedNetwork`.
    start
        Number of the start, 0 for the first; others are of a stream below it.
    """
    variant, kinds = Variant(variant), tuple(kinds)
    size = ObservationSize(kinds=kinds, num_agents=num_agents, num_servers=1, num_gpus=1, num_racks=1)
    stream = np.random.SeedSequence(seed).spawn(1)[0]
    rng = np.random.default_rng(stream.spawn(start)[-1] if start else stream)
    return TrainedNetwork(
        parameters=initial_parameters(rng, size, variant),
        kappa=kappa,
        variant=variant,
        kinds=kinds,
        num_agents=num_agents,
    )
