"""Particle swarm optimisation on random keys, a rival of the whales, in DEAP's toolbox idiom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from deap import base

from heuristics.dag.population import Particle, RoundLog
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

TOPOLOGIES = ("global", "ring")


class Flight(NamedTuple):
    """Where particles are and how fast, in keys per round; all arrays have shape (particles, keys)."""

    position: NDArray[np.float64]
    speed: NDArray[np.float64]


def pso(
    instance: DagInstance,
    objective: Objective,
    rng: np.random.Generator,
    stop: StopCriterion,
    callback: Callback,
    *,
    population: int = 20,
    decoding: str = "ranked",
    topology: str = "global",
    constriction: float = 0.7298,
    cognitive: float = 2.05,
    social: float = 2.05,
    heft_seed: bool = True,
    contention: Contention = Contention.NONE,
) -> DagSchedule | None:
    """Return the best schedule that a swarm of particles finds, None where all exceed a memory limit.

    In every round all particles move from one snapshot:
    ``v := constriction (v + cognitive U1 (own best - x) + social U2 (best of the neighbours - x))``, ``x := x + v``,
    U1 and U2 uniform in [0, 1) per coordinate. Speeds are limited to [-1, 1], the size of the cube; a particle that
    leaves the cube is put on its border, with speed 0 in that coordinate.

    Parameters
    ----------
    instance, objective, stop, callback
        As in `woa`, with which it shares decoder, first member and evaluation count.
    rng
        Source of all random numbers: the first positions, then as many targets of the first speeds, per round U1, U2.
    population
        Number of particles H, at least 2; E // H - 1 rounds as in `woa`.
    decoding
        As in `RandomKeys`.
    topology
        Who informs a particle: "global", all; "ring", itself and the two beside it.
    constriction, cognitive, social
        Of the equation above.
    heft_seed
        Whether particle 0 begins at HEFT's schedule.
    contention
        What transfers share, as in `heft`.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Clerc and Kennedy (2002), The particle swarm: explosion, stability, and convergence in a multidimensional complex
    space, IEEE TEVC 6(1): constriction 0.7298 with 2.05 and 2.05. Bratton and Kennedy (2007), Defining a standard for
    particle swarm optimization, IEEE SIS: the ring. Eberhart and Shi (2000), Comparing inertia weights and constriction
    factors, IEEE CEC: speeds limited to the range. Clerc (2007), Standard PSO: half of the way to a random point as
    first speed, speed 0 at the border. Ours: random keys and their decoder, HEFT seed, 20 particles as in `woa`.
    """
    _check(population, topology, constriction, cognitive, social)
    keys = RandomKeys(instance, objective, decoding, contention)
    run: SearchRun[NDArray[np.float64]] = SearchRun(stop, callback)
    log = RoundLog(run, callback)

    def update(swarm: list[Any]) -> Flight:
        flight = Flight(np.array(swarm), np.array([particle.speed for particle in swarm]))
        own = np.array([particle.best for particle in swarm])
        informed = own[best_neighbours([particle.fitness.wvalues for particle in swarm], topology)]
        u1, u2 = rng.random(own.shape), rng.random(own.shape)
        return fly(flight, own, informed, u1, u2, constriction=constriction, cognitive=cognitive, social=social)

    toolbox = base.Toolbox()
    toolbox.register("population", keys.sample, rng, heft_seed=heft_seed)
    toolbox.register("evaluate", PointEvaluator(keys, run))
    toolbox.register("update", update)

    points = toolbox.population(population)
    swarm = [Particle(point) for point in points]
    flight = Flight(points, (rng.random(points.shape) - points) / 2.0)
    while True:
        fitness = toolbox.evaluate(flight.position)
        log.record(flight.position, fitness)
        if run.stopped:
            break
        _take(swarm, flight, fitness)
        flight = toolbox.update(swarm)
    assert run.best_solution is not None  # one evaluation at least
    return keys.schedule(run.best_solution)


def fly(
    flight: Flight,
    own: NDArray[np.float64],
    informed: NDArray[np.float64],
    u1: NDArray[np.float64],
    u2: NDArray[np.float64],
    *,
    constriction: float = 0.7298,
    cognitive: float = 2.05,
    social: float = 2.05,
) -> Flight:
    """Return where particles move, and how fast they are then, by the equation at `pso`.

    Parameters
    ----------
    flight
        Where they are.
    own, informed
        Best point of each particle, and of those that inform it; shape (particles, keys).
    u1, u2
        Random numbers in [0, 1), the same shape.
    constriction, cognitive, social
        Of the equation.
    """
    here = flight.position
    speed = constriction * (flight.speed + cognitive * u1 * (own - here) + social * u2 * (informed - here))
    speed = np.clip(speed, -1.0, 1.0)
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
        As in `pso`; a particle prefers itself, then the one before it, and in "global" the first of the best.
    """
    count = len(fitness)
    if topology == "global":
        return np.full(count, max(range(count), key=lambda index: fitness[index]))
    ring = (max((i, (i - 1) % count, (i + 1) % count), key=lambda index: fitness[index]) for i in range(count))
    return np.fromiter(ring, dtype=np.int64, count=count)


def _check(population: int, topology: str, constriction: float, cognitive: float, social: float) -> None:
    """Check the parameters of the swarm."""
    if population < 2:
        raise ValueError(f"population: expected at least 2, got {population}.")
    if topology not in TOPOLOGIES:
        raise ValueError(f"topology: expected {' or '.join(TOPOLOGIES)}, got {topology!r}.")
    for name, value in (("constriction", constriction), ("cognitive", cognitive), ("social", social)):
        if not 0.0 <= value <= 10.0:
            raise ValueError(f"{name}: expected a number in 0..10, got {value}.")


def _take(swarm: list[Any], flight: Flight, fitness: NDArray[np.int64]) -> None:
    """Put particles where they have moved; the fitness of a particle is that of its best point, older on a tie."""
    for particle, point, speed, values in zip(swarm, *flight, fitness.tolist(), strict=True):
        particle[:], particle.speed = point, speed
        if not particle.fitness.valid or tuple(-value for value in values) > particle.fitness.wvalues:
            particle.best, particle.fitness.values = point, values
