"""A genetic algorithm on random keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.dag.key_search import Chromosome, key_search
from heuristics.search.settings import require_at_least, require_between

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.key_search import KeysRun, Proposals
    from heuristics.dag.random_keys import RandomKeys


RANDOM_START_MUTATION = 0.025
"""Least mutation rate where no member is HEFT's schedule; the documented default of mealpy's GA.

Measured with 2,000 evaluations on generated graphs of 30, 100 and 300 tasks: against 1 / number of keys, makespans
change by -6, -17 and -17 % on GPU keys and by -0.2, -0.6 and -1.9 % with earliest finish. Where HEFT's schedule is a
member, they change by +0.1, +1.9 and +5.4 % on GPU keys: a good start is improved by few changes at a time.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneticSettings:
    """Parameters of `ga`.

    Parameters
    ----------
    population
        Number of members H, at least 2; E evaluations are E // H - 1 generations after the first population.
    decoding
        As in `RandomKeys`.
    tournament
        Members, drawn with replacement, of which the best becomes a parent; at least 1.
    crossover
        Probability that a pair is crossed; each key is then swapped with probability 1/2.
    mutation
        Probability that a key mutates; by default 1 / number of keys, without HEFT's schedule at least
        `RANDOM_START_MUTATION`.
    heft_seed
        Whether member 0 is HEFT's schedule.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    population: int = 20
    decoding: str = "ranked"
    tournament: int = 3
    crossover: float = 0.9
    mutation: float | None = None
    heft_seed: bool = True

    def __post_init__(self) -> None:
        """Check the ranges."""
        require_at_least(2, population=self.population)
        require_at_least(1, tournament=self.tournament)
        mutation = 0.0 if self.mutation is None else self.mutation
        require_between(0, 1, "probability", crossover=self.crossover, mutation=mutation)

    def mutation_rate(self, num_keys: int) -> float:
        """Return the probability that one of so many keys mutates."""
        if self.mutation is not None:
            return self.mutation
        return max(1.0 / max(1, num_keys), 0.0 if self.heft_seed else RANDOM_START_MUTATION)


@key_search(GeneticSettings)
def ga(settings: GeneticSettings, keys: RandomKeys, rng: np.random.Generator, run: KeysRun) -> Proposals:
    """Improve a population by selection, crossover and mutation; parameters as in `GeneticSettings`.

    The algorithm is generational: tournaments choose as many parents as there are members, pairs of them are crossed
    key by key, keys mutate to uniform numbers, and the children replace the parents, except that the best parent
    replaces the worst child if it is better than all children. Random numbers are drawn, per generation, for
    tournaments, crossover and mutation.

    References
    ----------
    Bean (1994), Genetic algorithms and random keys for sequencing and optimization, ORSA J. Computing 6(2): keys,
    uniform crossover, uniform new keys. Goldberg and Deb (1991): tournaments; three members and generations as in
    DEAP's `eaSimple`. Syswerda (1989): swaps with probability 1/2. De Jong (1975): the best survives. Grefenstette
    (1986), Baeck (1993): crossover near 0.9, mutation rate 1 / length. Ours: decoder, HEFT seed, 20 members as in
    `woa`, a higher mutation rate without HEFT seed (`RANDOM_START_MUTATION`).
    """
    rate = settings.mutation_rate(keys.num_keys)
    members = [Chromosome(point) for point in keys.sample(rng, settings.population, heft_seed=settings.heft_seed)]
    children = np.array(members)
    while True:
        fitness = yield children
        _replace(members, children, fitness)
        parents = select_by_tournament(rng, [one.fitness.wvalues for one in members], size=settings.tournament)
        crossed = cross_uniformly(rng, np.array(members)[parents], probability=settings.crossover)
        children = mutate_uniformly(rng, crossed, probability=rate)


def select_by_tournament(rng: np.random.Generator, fitness: list[tuple[int, int]], *, size: int) -> NDArray[np.int64]:
    """Return as many parents as there are members, each the best of `size` random ones; ties to the lowest index.

    Fitness is as DEAP weighs it: the larger the better.
    """
    count = len(fitness)
    order = sorted(range(count), key=lambda index: fitness[index], reverse=True)  # stable: ties by index
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    winners: NDArray[np.int64] = np.array(order)[place[rng.integers(count, size=(count, size))].min(axis=1)]
    return winners


def cross_uniformly(
    rng: np.random.Generator, parents: NDArray[np.float64], *, probability: float
) -> NDArray[np.float64]:
    """Return children of the pairs (0, 1), (2, 3), ...; an odd last parent stays as it is.

    Draws which pairs are crossed, each with the given probability, then which of their keys are swapped, each with
    probability 1/2. The parents, shape (count, keys), are not changed.
    """
    children = parents.copy()
    pairs = len(parents) // 2
    crossed = rng.random((pairs, 1)) < probability
    swapped = crossed & (rng.random((pairs, parents.shape[1])) < 0.5)
    first, second = parents[0 : 2 * pairs : 2], parents[1 : 2 * pairs : 2]
    children[0 : 2 * pairs : 2] = np.where(swapped, second, first)
    children[1 : 2 * pairs : 2] = np.where(swapped, first, second)
    return children


def mutate_uniformly(
    rng: np.random.Generator, points: NDArray[np.float64], *, probability: float
) -> NDArray[np.float64]:
    """Return the points with some keys replaced by uniform numbers; draws which keys mutate, then the new keys."""
    return np.where(rng.random(points.shape) < probability, rng.random(points.shape), points)


def _replace(members: list[Any], children: NDArray[np.float64], fitness: NDArray[np.int64]) -> None:
    """Replace the parents by the children; the best parent replaces the worst child if it is better than all."""
    best = max((member for member in members if member.fitness.valid), key=lambda one: one.fitness, default=None)
    kept = None if best is None else (np.array(best), best.fitness.wvalues)
    for member, child, values in zip(members, children, fitness.tolist(), strict=True):
        member[:], member.fitness.values = child, values
    if kept is not None and kept[1] > max(member.fitness.wvalues for member in members):
        worst = min(members, key=lambda member: member.fitness.wvalues)
        worst[:], worst.fitness.wvalues = kept
