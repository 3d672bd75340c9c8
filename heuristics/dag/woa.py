"""The whale optimisation algorithm on random keys, in DEAP's toolbox idiom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from deap import base, tools

from heuristics.dag.individuals import Whale
from heuristics.dag.point_evaluator import PointEvaluator
from heuristics.dag.random_keys import RandomKeys
from heuristics.dag.round_log import RoundLog
from heuristics.dag.whale_moves import DISTANCES, VARIANTS, draw, elapsed_part, move_pod
from heuristics.search_run import SearchRun
from instances.contention import Contention

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.callback import Callback
    from heuristics.stop.stop_criterion import StopCriterion
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from instances.objective import Objective

ACCEPTANCES = ("always", "greedy")


def woa(
    instance: DagInstance,
    objective: Objective,
    rng: np.random.Generator,
    stop: StopCriterion,
    callback: Callback,
    *,
    population: int = 20,
    decoding: str = "ranked",
    variant: str = "printed",
    distance: str = "original",
    acceptance: str = "always",
    spiral: float = 1.0,
    heft_seed: bool = True,
    contention: Contention = Contention.NONE,
) -> DagSchedule | None:
    """Return the best schedule that a pod of whales finds, None where all exceed a memory limit.

    A whale is a point of the unit cube that `RandomKeys` decodes. In every round all whales move and are clipped to
    the cube; the leader is the best point ever seen.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    rng
        Source of all random numbers, drawn as `whale_moves.draw` says.
    stop
        Asked after every evaluation; its share of the budget drives a, which falls from 2 (`elapsed_part`).
    callback
        Told of every evaluation and round.
    population
        Number of whales H, at least 2. With E evaluations there are E // H - 1 rounds; the last one may be cut.
    decoding
        As in `RandomKeys`.
    variant
        "printed": scalars r1, r2, p and l in [-1, 1] per whale, another random whale per whale, all from one snapshot;
        what the paper leaves open is ours. "reference": as the authors' MATLAB code of 2016 does it: l in a range that
        widens to (-2, 1], a random whale per coordinate that may be the whale itself, a above 0 at the end; random
        whales with a lower index have already moved and are not yet clipped. "mealpy": as `OriginalWOA` of mealpy 3.1:
        r1, r2 and p per coordinate, l widening, another random whale per coordinate, a exactly 0 at the end; whales
        move in place and are clipped at once.
    distance
        "original": |C X* - X|; "shifted": C |X* - X|, which has no pull to the corner 0 (ours).
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
    Mirjalili and Lewis (2016), The Whale Optimization Algorithm, doi 10.1016/j.advengsoft.2016.01.008. Ours: random
    keys and their decoder, HEFT seed, a from the used share of the budget.
    """
    _check(population=population, variant=variant, distance=distance, acceptance=acceptance, spiral=spiral)
    keys = RandomKeys(instance, objective, decoding, contention)
    run: SearchRun[NDArray[np.float64]] = SearchRun(stop, callback)
    toolbox = _toolbox(keys, rng, run, heft_seed=heft_seed, variant=variant, distance=distance, spiral=spiral)
    log, leader = RoundLog(run, callback), tools.HallOfFame(1, similar=np.array_equal)
    pod = toolbox.population(n=population)
    points = np.array(pod)
    fitness = toolbox.evaluate(points)
    log.record(points, fitness)
    _accept(pod, points, fitness, "always")
    first_share = run.share
    while not run.stopped:
        leader.update(pod)
        moved = toolbox.update(np.array(pod), np.asarray(leader[0]), elapsed_part(variant, run.share, first_share))
        fitness = toolbox.evaluate(moved)
        log.record(moved, fitness)
        _accept(pod, moved, fitness, acceptance)
    assert run.best_solution is not None  # one evaluation at least
    return keys.schedule(run.best_solution)


def _check(*, population: int, variant: str, distance: str, acceptance: str, spiral: float) -> None:
    """Check the parameters of the pod."""
    if population < 2:
        raise ValueError(f"population: expected at least 2, got {population}.")
    if variant not in VARIANTS:
        raise ValueError(f"variant: expected one of {', '.join(VARIANTS)}, got {variant!r}.")
    if distance not in DISTANCES:
        raise ValueError(f"distance: expected {' or '.join(DISTANCES)}, got {distance!r}.")
    if acceptance not in ACCEPTANCES:
        raise ValueError(f"acceptance: expected {' or '.join(ACCEPTANCES)}, got {acceptance!r}.")
    if not abs(spiral) <= 700.0:  # beyond, exp(b l) is no float
        raise ValueError(f"spiral: expected a number in -700..700, got {spiral}.")


def _toolbox(
    keys: RandomKeys,
    rng: np.random.Generator,
    run: SearchRun[NDArray[np.float64]],
    *,
    heft_seed: bool,
    variant: str,
    distance: str,
    spiral: float,
) -> base.Toolbox:
    """Register how whales are made, judged and moved, a pod at a time; everything random is bound to `rng`."""
    rules = VARIANTS[variant]

    def make_population(n: int) -> list[Any]:
        return [Whale(point) for point in keys.sample(rng, n, heft_seed=heft_seed)]

    def update(pod: NDArray[np.float64], leader: NDArray[np.float64], elapsed: float) -> NDArray[np.float64]:
        draws, a = draw(rng, rules, len(pod), keys.num_keys, elapsed), 2.0 * (1.0 - elapsed)
        moved = move_pod(pod, leader, draws, a, rules=rules, distance=distance, spiral=spiral)
        return np.clip(moved, 0.0, 1.0)

    toolbox = base.Toolbox()
    toolbox.register("population", make_population)
    toolbox.register("evaluate", PointEvaluator(keys, run))
    toolbox.register("update", update)
    return toolbox


def _accept(pod: list[Any], points: NDArray[np.float64], fitness: NDArray[np.int64], acceptance: str) -> None:
    """Let whales take their new points, those that were evaluated and, if greedy, are not worse."""
    for whale, point, values in zip(pod, points, fitness.tolist(), strict=False):
        before = whale.fitness.wvalues
        whale.fitness.values = values
        if acceptance == "greedy" and before > whale.fitness.wvalues:
            whale.fitness.wvalues = before
        else:
            whale[:] = point
