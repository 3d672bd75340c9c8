"""The whale optimisation algorithm on random keys, in DEAP's toolbox idiom."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from deap import base, creator, tools

from heuristics.dag.random_keys import RandomKeys
from heuristics.search_run import SearchRun
from instances.contention import Contention

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.callback import Callback
    from heuristics.stop.stop_criterion import StopCriterion
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from instances.objective import Objective

# Fitness is (overflow bytes, objective), both minimised, the first counts more. DEAP makes classes once per process.
creator.create("WhaleFitness", base.Fitness, weights=(-1.0, -1.0))
creator.create("Whale", np.ndarray, fitness=creator.WhaleFitness)


def woa(
    instance: DagInstance,
    objective: Objective,
    rng: np.random.Generator,
    stop: StopCriterion,
    callback: Callback,
    *,
    population: int = 20,
    decoding: str = "ranked",
    distance: str = "original",
    acceptance: str = "always",
    spiral: float = 1.0,
    heft_seed: bool = True,
    contention: Contention = Contention.NONE,
) -> DagSchedule | None:
    """Return the best schedule that a pod of whales finds, None where all exceed a memory limit.

    A whale is a point of the unit cube that `RandomKeys` decodes. In every round all whales move from one snapshot and
    are clipped to the cube; the leader is the best point ever seen.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    rng
        Source of all random numbers; per whale r1, r2, p, l, then a random other whale.
    stop
        Asked after every evaluation; its share of the budget drives a = 2 (1 - share).
    callback
        Told of every evaluation.
    population
        Number of whales H, at least 2. With E evaluations there are E // H - 1 rounds; the last one may be cut.
    decoding
        As in `RandomKeys`.
    distance
        "original": |C X* - X|; "shifted": C |X* - X|, which has no pull to the corner 0.
    acceptance
        "always" as published; "greedy" keeps the better of a whale before and after its move, the moved one on a tie.
    spiral
        Shape b of the logarithmic spiral.
    heft_seed
        Whether whale 0 begins at HEFT's schedule.
    contention
        What transfers share, as in `heft`.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Mirjalili and Lewis (2016), The Whale Optimization Algorithm, doi 10.1016/j.advengsoft.2016.01.008. As there: the
    three moves, scalars r1, r2, p, l per whale, synchronous rounds. Ours: random keys and their decoder, HEFT seed, l
    uniform in [-1, 1] as printed, the random whale is another one, a from the used share of the budget.
    """
    _check(population=population, distance=distance, acceptance=acceptance, spiral=spiral)
    keys = RandomKeys(instance, objective, decoding, contention)
    toolbox = _toolbox(keys, rng, heft_seed=heft_seed, distance=distance, spiral=spiral)
    leader = tools.HallOfFame(1, similar=np.array_equal)
    run: SearchRun[NDArray[np.float64]] = SearchRun(stop, callback)
    pod = toolbox.population(n=population)
    _evaluate(pod, toolbox, run)
    while not run.stopped:
        leader.update(pod)
        snapshot = [np.array(whale) for whale in pod]
        moved = [toolbox.clone(whale) for whale in pod]
        for index, whale in enumerate(moved):
            toolbox.update(whale, index, leader[0], snapshot, 2.0 * (1.0 - run.share))
        _evaluate(moved, toolbox, run)
        if acceptance == "greedy" and not run.stopped:
            moved = [max(pair, key=lambda whale: whale.fitness) for pair in zip(moved, pod, strict=True)]
        pod = moved
    assert run.best_solution is not None  # one evaluation at least
    return keys.schedule(run.best_solution)


def move(
    position: NDArray[np.float64],
    leader: NDArray[np.float64],
    random_whale: NDArray[np.float64],
    *,
    a: float,
    r1: float,
    r2: float,
    p: float,
    l: float,
    distance: str = "original",
    spiral: float = 1.0,
) -> NDArray[np.float64]:
    """Return where a whale moves, before clipping.

    With A = 2 a r1 - a and C = 2 r2: p < 0.5 and |A| < 1 encircles the leader, p < 0.5 and |A| >= 1 explores around the
    random whale, else the whale follows a spiral around the leader; Mirjalili and Lewis (2016), eqs. 2.1 to 2.8.

    Parameters
    ----------
    position, leader, random_whale
        Points of the same shape.
    a, r1, r2, p, l
        The scalars of the equations.
    distance, spiral
        As in `woa`.
    """
    if p >= 0.5:
        return np.abs(leader - position) * math.exp(spiral * l) * math.cos(2 * math.pi * l) + leader
    step, pull = 2 * a * r1 - a, 2 * r2
    target = leader if abs(step) < 1 else random_whale
    if distance == "shifted":
        return target - step * (pull * np.abs(target - position))
    return target - step * np.abs(pull * target - position)


def _check(*, population: int, distance: str, acceptance: str, spiral: float) -> None:
    """Check the parameters of the pod."""
    if population < 2:
        raise ValueError(f"population: expected at least 2, got {population}.")
    if distance not in ("original", "shifted"):
        raise ValueError(f"distance: expected original or shifted, got {distance!r}.")
    if acceptance not in ("always", "greedy"):
        raise ValueError(f"acceptance: expected always or greedy, got {acceptance!r}.")
    if not abs(spiral) <= 700.0:  # beyond, exp(b l) is no float
        raise ValueError(f"spiral: expected a number in -700..700, got {spiral}.")


def _toolbox(
    keys: RandomKeys, rng: np.random.Generator, *, heft_seed: bool, distance: str, spiral: float
) -> base.Toolbox:
    """Register how whales are made, judged and moved; everything random is bound to `rng`."""

    def make_population(n: int) -> list[Any]:
        first = keys.heft_keys() if heft_seed else rng.random(keys.num_keys)
        return [creator.Whale(first)] + [creator.Whale(rng.random(keys.num_keys)) for _ in range(n - 1)]

    def update(whale: Any, index: int, leader: Any, snapshot: list[NDArray[np.float64]], a: float) -> None:
        r1, r2, p = rng.random(3)
        l = rng.uniform(-1.0, 1.0)
        other = int(rng.integers(len(snapshot) - 1))
        random_whale = snapshot[other if other < index else other + 1]
        moved = move(
            snapshot[index], leader, random_whale, a=a, r1=r1, r2=r2, p=p, l=l, distance=distance, spiral=spiral
        )
        whale[:] = np.clip(moved, 0.0, 1.0)
        del whale.fitness.values

    toolbox = base.Toolbox()
    toolbox.register("population", make_population)
    toolbox.register("evaluate", keys.evaluate)
    toolbox.register("update", update)
    return toolbox


def _evaluate(whales: list[Any], toolbox: base.Toolbox, run: SearchRun[NDArray[np.float64]]) -> None:
    """Evaluate whales one by one until the run is stopped."""
    for whale in whales:
        if run.stopped:
            return
        point = np.asarray(whale).view(np.ndarray)
        fitness = toolbox.evaluate(point)
        whale.fitness.values = fitness
        run.record(fitness, point.copy())
