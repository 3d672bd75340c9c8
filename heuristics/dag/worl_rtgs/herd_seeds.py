"""What a herd of the network begins with: HEFT's placement, the network's own, and random ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.list_scheduler import list_schedule
from heuristics.dag.placement_order import placement_order
from heuristics.dag.rtgs.first_litter import litter_of, uniform_placements
from heuristics.dag.worl_rtgs.features import episode_data

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.rtgs.herd import Litter
    from heuristics.dag.worl_rtgs.ddqn_generator import DdqnGenerator

ORDER_SPREAD = 0.3
"""Standard deviation of the logarithm of what multiplies the upward ranks of random whales."""


def herd_seeds(generator: DdqnGenerator, *, heft: bool, ddqn: bool) -> list[Litter]:
    """Return the wanted seeds in this order, a litter of one each; draws nothing.

    Parameters
    ----------
    generator
        Whose network makes the second one, with lambda 0 and temperature 0.
    heft
        Whether HEFT's placement is wanted.
    ddqn
        Whether the network's own is. Both take the tasks in rank order.
    """
    instance, objective = generator.instance, generator.objective
    data = episode_data(instance, objective)
    seeds: list[Litter] = []
    if heft:
        placement = list_schedule(dag_arrays(instance))
        seeds.append(litter_of(instance, objective, [placement], data.order, running=generator.running))
    if ddqn:
        alone = replace(generator, wish_weight=0.0, temperature=0.0, searches_order=False)
        seeds.append(alone.generate(np.empty((1, 0)), np.random.default_rng(0), 0.0))
    return [_with_priority(seed, data.rank) if generator.searches_order else seed for seed in seeds]


def random_herd(generator: DdqnGenerator, rng: np.random.Generator, count: int) -> list[Litter]:
    """Return random placements, a litter of one each.

    Parameters
    ----------
    generator
        Which instance, and what positions hold.
    rng
        Source of all random numbers. For whales that search the order, the logarithms of `ORDER_SPREAD` come first,
        shape (count, n); then the keys of `uniform_placements`.
    count
        How many.
    """
    instance, objective, running = generator.instance, generator.objective, generator.running
    arrays, data = dag_arrays(instance), episode_data(instance, objective)
    priorities = np.tile(data.rank, (count, 1))
    if generator.searches_order:
        priorities *= np.exp(ORDER_SPREAD * rng.standard_normal(priorities.shape))
    whales = []
    for priority in priorities:
        placement = uniform_placements(instance, rng, 1, priority, insertion=True)
        litter = litter_of(instance, objective, placement, placement_order(arrays, priority), running=running)
        whales.append(_with_priority(litter, priority) if generator.searches_order else litter)
    return whales


def _with_priority(litter: Litter, priority: NDArray[np.float64]) -> Litter:
    """Put the priorities of one placement behind its loads."""
    return litter._replace(position=np.hstack([litter.position, priority[None, :]]))
