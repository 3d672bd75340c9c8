"""A genetic algorithm on random keys, a rival of the whales, in DEAP's toolbox idiom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from deap import base

from heuristics.dag.population import Chromosome, RoundLog
from heuristics.dag.random_keys import PointEvaluator, RandomKeys
from heuristics.search.run import SearchRun
from instances.dag.contention import Contention

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.search.progress import Callback
    from heuristics.search.stop_criteria import StopCriterion
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule


def ga(
    instance: DagInstance,
    objective: Objective,
    rng: np.random.Generator,
    stop: StopCriterion,
    callback: Callback,
    *,
    population: int = 20,
    decoding: str = "ranked",
    tournament: int = 3,
    crossover: float = 0.9,
    mutation: float | None = None,
    heft_seed: bool = True,
    contention: Contention = Contention.NONE,
) -> DagSchedule | None:
    """Return the best schedule that a genetic algorithm finds, None where all exceed a memory limit.

    Generational: tournaments choose as many parents as there are members, pairs of them are crossed key by key, keys
    mutate to a uniform number, and the children replace the parents, but the best parent replaces the worst child if it
    is better than all children.

    Parameters
    ----------
    instance, objective, stop, callback
        As in `woa`, with which it shares decoder, first member and evaluation count.
    rng
        Source of all random numbers; per generation tournaments, crossover, mutation.
    population
        Number of members H, at least 2; E // H - 1 generations as in `woa`.
    decoding
        As in `RandomKeys`.
    tournament
        Members, drawn with replacement, of which the best becomes a parent; at least 1.
    crossover
        Probability that a pair is crossed; each key is then swapped with probability 1/2.
    mutation
        Probability that a key mutates; by default 1 / number of keys.
    heft_seed
        Whether member 0 is HEFT's schedule.
    contention
        What transfers share, as in `heft`.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Bean (1994), Genetic algorithms and random keys for sequencing and optimization, ORSA J. Computing 6(2): keys,
    uniform crossover, uniform new keys. Goldberg and Deb (1991): tournaments; three members and generations as in
    DEAP's `eaSimple`. Syswerda (1989): swaps with probability 1/2. De Jong (1975): the best survives. Grefenstette
    (1986), Baeck (1993): crossover near 0.9, mutation rate 1 / length. Ours: decoder, HEFT seed, 20 members as in
    `woa`.
    """
    _check(population, tournament, crossover, mutation)
    keys = RandomKeys(instance, objective, decoding, contention)
    run: SearchRun[NDArray[np.float64]] = SearchRun(stop, callback)
    log = RoundLog(run, callback)
    rate = 1.0 / max(1, keys.num_keys) if mutation is None else mutation

    toolbox = base.Toolbox()
    toolbox.register("population", keys.sample, rng, heft_seed=heft_seed)
    toolbox.register("evaluate", PointEvaluator(keys, run))
    toolbox.register("select", select_by_tournament, rng, size=tournament)
    toolbox.register("mate", cross_uniformly, rng, probability=crossover)
    toolbox.register("mutate", mutate_uniformly, rng, probability=rate)

    members = [Chromosome(point) for point in toolbox.population(population)]
    children = np.array(members)
    while True:
        fitness = toolbox.evaluate(children)
        log.record(children, fitness)
        if run.stopped:
            break
        _replace(members, children, fitness)
        parents = toolbox.select([member.fitness.wvalues for member in members])
        children = toolbox.mutate(toolbox.mate(np.array(members)[parents]))
    assert run.best_solution is not None  # one evaluation at least
    return keys.schedule(run.best_solution)


def select_by_tournament(rng: np.random.Generator, fitness: list[tuple[int, int]], *, size: int) -> NDArray[np.int64]:
    """Return as many parents as there are members, each the best of `size` random ones; ties to the lowest index.

    Parameters
    ----------
    rng
        Draws the members of the tournaments.
    fitness
        Of each member as DEAP weighs it: the larger the better.
    size
        Members of a tournament.
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
    """Return children of the pairs (0, 1), (2, 3), ...; an odd last one stays as it is.

    Parameters
    ----------
    rng
        Draws which pairs are crossed, then which keys are swapped.
    parents
        Points, shape (count, keys); left alone.
    probability
        That a pair is crossed; then each key is swapped with probability 1/2.
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
    """Return the points with some keys replaced by uniform numbers.

    Parameters
    ----------
    rng
        Draws which keys mutate, then the new keys.
    points
        Shape (count, keys); left alone.
    probability
        That a key mutates.
    """
    return np.where(rng.random(points.shape) < probability, rng.random(points.shape), points)


def _check(population: int, tournament: int, crossover: float, mutation: float | None) -> None:
    """Check the parameters of the population."""
    if population < 2:
        raise ValueError(f"population: expected at least 2, got {population}.")
    if tournament < 1:
        raise ValueError(f"tournament: expected at least 1, got {tournament}.")
    for name, value in (("crossover", crossover), ("mutation", 0.0 if mutation is None else mutation)):
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"{name}: expected a probability in 0..1, got {value}.")


def _replace(members: list[Any], children: NDArray[np.float64], fitness: NDArray[np.int64]) -> None:
    """Put the children in the places of the parents; the best parent stays, for the worst child, if it is better."""
    best = max((member for member in members if member.fitness.valid), key=lambda one: one.fitness, default=None)
    kept = None if best is None else (np.array(best), best.fitness.wvalues)
    for member, child, values in zip(members, children, fitness.tolist(), strict=True):
        member[:], member.fitness.values = child, values
    if kept is not None and kept[1] > max(member.fitness.wvalues for member in members):
        worst = min(members, key=lambda member: member.fitness.wvalues)
        worst[:], worst.fitness.wvalues = kept
