"""Particle swarm optimisation on random keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heuristics.dag.key_search import Particle, key_search
from heuristics.search.settings import require_at_least, require_between, require_choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.key_search import KeysRun, Proposals
    from heuristics.dag.random_keys import RandomKeys

TOPOLOGIES = ("global", "ring")


@dataclass(frozen=True, slots=True, kw_only=True)
class SwarmSettings:
    """Parameters of `pso`.

    Parameters
    ----------
    population
        Number of particles H, at least 2; E evaluations are E // H - 1 rounds after the first population.
    decoding
        As in `RandomKeys`.
    topology
        Which particles inform a particle: all with "global"; itself and its two neighbours with "ring".
    constriction, cognitive, social
        Coefficients of the equation in `pso`, in 0..10.
    heft_seed
        Whether particle 0 begins at HEFT's schedule.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    population: int = 20
    decoding: str = "ranked"
    topology: str = "global"
    constriction: float = 0.7298
    cognitive: float = 2.05
    social: float = 2.05
    heft_seed: bool = True

    def __post_init__(self) -> None:
        """Check the ranges."""
        require_at_least(2, population=self.population)
        require_choice("topology", self.topology, TOPOLOGIES)
        require_between(0, 10, constriction=self.constriction, cognitive=self.cognitive, social=self.social)


class Flight(NamedTuple):
    """Positions of the particles and their speeds in keys per round; both have shape (particles, keys)."""

    position: NDArray[np.float64]
    speed: NDArray[np.float64]


@key_search(SwarmSettings)
def pso(settings: SwarmSettings, keys: RandomKeys, rng: np.random.Generator, run: KeysRun) -> Proposals:
    """Move a swarm of particles towards the best points found; parameters as in `SwarmSettings`.

    In every round all particles move from one snapshot:
    ``v := constriction (v + cognitive U1 (own best - x) + social U2 (best of the neighbours - x))``, ``x := x + v``,
    U1 and U2 uniform in [0, 1) per coordinate. Speeds are limited to [-1, 1], the size of the cube; a particle that
    leaves the cube is put on its border, with speed 0 in that coordinate. Random numbers are drawn for the first
    positions, then for as many targets of the first speeds, and in every round for U1 and U2.

    References
    ----------
    Clerc and Kennedy (2002), The particle swarm: explosion, stability, and convergence in a multidimensional complex
    space, IEEE TEVC 6(1): constriction 0.7298 with 2.05 and 2.05. Bratton and Kennedy (2007), Defining a standard for
    particle swarm optimization, IEEE SIS: the ring. Eberhart and Shi (2000), Comparing inertia weights and constriction
    factors, IEEE CEC: speeds limited to the range. Clerc (2007), Standard PSO: half of the way to a random point as
    first speed, speed 0 at the border. Ours: random keys and their decoder, HEFT seed, 20 particles as in `woa`.
    """
    points = keys.sample(rng, settings.population, heft_seed=settings.heft_seed)
    swarm = [Particle(point) for point in points]
    flight = Flight(points, (rng.random(points.shape) - points) / 2.0)
    while True:
        fitness = yield flight.position
        _update(swarm, flight, fitness)
        own = np.array([particle.best for particle in swarm])
        informed = own[best_neighbours([particle.fitness.wvalues for particle in swarm], settings.topology)]
        u1, u2 = rng.random(own.shape), rng.random(own.shape)
        flight = fly(flight, own, informed, u1, u2, settings)


_STANDARD = SwarmSettings()


def fly(
    flight: Flight,
    own: NDArray[np.float64],
    informed: NDArray[np.float64],
    u1: NDArray[np.float64],
    u2: NDArray[np.float64],
    settings: SwarmSettings = _STANDARD,
) -> Flight:
    """Return positions and speeds after one round, by the equation in `pso`.

    All arrays have shape (particles, keys): the best point of each particle, the best point of those that inform it,
    and two arrays of random numbers in [0, 1).
    """
    here = flight.position
    speed = flight.speed + settings.cognitive * u1 * (own - here) + settings.social * u2 * (informed - here)
    speed = np.clip(settings.constriction * speed, -1.0, 1.0)
    beyond = here + speed
    position = np.clip(beyond, 0.0, 1.0)
    return Flight(position, np.where(position == beyond, speed, 0.0))


def best_neighbours(fitness: list[tuple[int, int]], topology: str) -> NDArray[np.int64]:
    """Return for every particle the one that informs it, shape (particles,).

    Parameters
    ----------
    fitness
        Of each particle's best point as DEAP weighs it: the larger the better.
    topology
        As in `SwarmSettings`. On a tie a particle in the ring prefers itself, then its predecessor; the global best is
        the first of several.
    """
    count = len(fitness)
    if topology == "global":
        return np.full(count, max(range(count), key=lambda index: fitness[index]))
    ring = (max((i, (i - 1) % count, (i + 1) % count), key=lambda index: fitness[index]) for i in range(count))
    return np.fromiter(ring, dtype=np.int64, count=count)


def _update(swarm: list[Any], flight: Flight, fitness: NDArray[np.int64]) -> None:
    """Update every particle's best point and its fitness; on a tie the older point stays."""
    for particle, point, values in zip(swarm, flight.position, fitness.tolist(), strict=True):
        if not particle.fitness.valid or tuple(-value for value in values) > particle.fitness.wvalues:
            particle.best, particle.fitness.values = point, values
