"""The whale optimisation algorithm on random keys, in its variants: how whales move, and the search itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from deap import base, tools
from numba import njit

from heuristics.dag.population import RoundLog, Whale
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


_LARGEST_EXPONENT = 300.0  # of the spiral; whatever is beyond ends at the border of the cube all the same


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveRules:
    """What the printed equations leave open, or an implementation does in its own way.

    Parameters
    ----------
    vectors
        Whether r1, r2 and p are drawn for every coordinate, not once per whale.
    whale_per_coordinate
        Whether another random whale is drawn for every coordinate.
    may_be_itself
        Whether the random whale may be the whale that moves.
    widening
        Whether l is uniform in (-1 - e, 1], e the elapsed part of the run, not in [-1, 1].
    in_place
        Whether random whales with a lower index have already moved, not all whales from one snapshot.
    clipped_at_once
        Whether those are clipped to the cube already.
    """

    vectors: bool = False
    whale_per_coordinate: bool = False
    may_be_itself: bool = False
    widening: bool = False
    in_place: bool = False
    clipped_at_once: bool = False


VARIANTS = {
    "printed": MoveRules(),
    "reference": MoveRules(whale_per_coordinate=True, may_be_itself=True, widening=True, in_place=True),
    "mealpy": MoveRules(vectors=True, whale_per_coordinate=True, widening=True, in_place=True, clipped_at_once=True),
}
"""The variants by name, as documented at `woa`."""

DISTANCES = ("original", "shifted")
"""|C X* - X| as published, and C |X* - X|, which has no pull to the corner 0 (ours)."""


class Draws(NamedTuple):
    """Random numbers of one round for H whales in d dimensions; c is 1 (one per whale) or d (one per coordinate)."""

    r1: NDArray[np.float64]  # (H, c), in [0, 1)
    r2: NDArray[np.float64]  # (H, c), in [0, 1)
    p: NDArray[np.float64]  # (H, c), in [0, 1)
    l: NDArray[np.float64]  # (H,)
    other: NDArray[np.int64]  # (H, c), indices of random whales


def elapsed_part(variant: str, share: float, first_share: float) -> float:
    """Return e, the elapsed part of the run that sets a = 2 (1 - e).

    "printed": the used share of the budget. "reference": without the first pod, so e = t/T, t = 0..T-1, with E = H T
    evaluations (the original evaluates at the head of its loop and moves T times, the last time for nothing).
    "mealpy": e = t/T, t = 1..T, with E = H (T + 1).

    Parameters
    ----------
    variant
        One of `VARIANTS`.
    share, first_share
        Used share of the budget now, and after the evaluation of the first pod; both 0 where the stop criterion is no
        budget: then a stays 2.
    """
    if variant == "reference":
        return max(0.0, share - first_share)
    if variant == "mealpy":
        return min(1.0, share / (1.0 - first_share)) if first_share < 1.0 else 1.0
    return share


def draw(rng: np.random.Generator, rules: MoveRules, num_whales: int, dimension: int, elapsed: float) -> Draws:
    """Draw the random numbers of one round; shapes as in `Draws`.

    Scalars are drawn whale by whale (r1, r2, p, l, then the other whale), vectors array by array.

    Parameters
    ----------
    rng
        Source of all random numbers.
    rules
        Of the variant.
    num_whales, dimension
        H >= 2 and d.
    elapsed
        As `elapsed_part` says; for l.
    """
    columns = dimension if rules.vectors else 1
    if not rules.vectors and not rules.whale_per_coordinate:
        scalars, other = np.empty((num_whales, 4)), np.empty((num_whales, 1), dtype=np.int64)
        for whale in range(num_whales):
            rng.random(out=scalars[whale])
            other[whale] = rng.integers(num_whales - 1)
        r1, r2, p, l = (scalars[:, [column]] for column in range(4))
    else:
        r1, r2, p = (rng.random((num_whales, columns)) for _ in range(3))
        l = rng.random((num_whales, 1))
        candidates = num_whales if rules.may_be_itself else num_whales - 1
        other = rng.integers(candidates, size=(num_whales, dimension))
    if not rules.may_be_itself:
        other += other >= np.arange(num_whales)[:, None]
    l = 1.0 - (2.0 + elapsed) * l if rules.widening else 2.0 * l - 1.0
    return Draws(r1=r1, r2=r2, p=p, l=l[:, 0], other=other)


def move_whales(
    positions: NDArray[np.float64],
    leader: NDArray[np.float64],
    draws: Draws,
    a: float,
    *,
    rules: MoveRules = VARIANTS["printed"],
    distance: str = "original",
    spiral: float = 1.0,
) -> NDArray[np.float64]:
    """Return where all whales move, shape (H, d), before they are clipped to the cube (but see `clipped_at_once`).

    With A = 2 a r1 - a and C = 2 r2: p < 0.5 and |A| < 1 encircles the leader, p < 0.5 and |A| >= 1 explores around the
    random whale, else the whale follows a spiral around the leader; Mirjalili and Lewis (2016), eqs. 2.1 to 2.8.

    Parameters
    ----------
    positions
        Of all whales, shape (H, d).
    leader
        X*, the best position so far, shape (d,).
    draws
        The random numbers.
    a
        Falls from 2 to 0 in the course of a run.
    rules
        Of the variant; they say here in which order whales move.
    distance
        One of `DISTANCES`.
    spiral
        Shape b of the logarithmic spiral.
    """
    reach = np.array([math.exp(min(spiral * l, _LARGEST_EXPONENT)) for l in draws.l.tolist()])
    turn = np.array([math.cos(2 * math.pi * l) for l in draws.l.tolist()])
    step, pull = 2 * a * draws.r1 - a, 2 * draws.r2
    moved: NDArray[np.float64] = _move(
        np.ascontiguousarray(positions, dtype=np.float64),
        np.ascontiguousarray(leader, dtype=np.float64),
        step,
        pull,
        np.ascontiguousarray(draws.p),
        reach,
        turn,
        np.ascontiguousarray(draws.other),
        distance == "shifted",
        rules.in_place,
        rules.clipped_at_once,
    )
    return moved


@njit(cache=True)
def _move(
    positions: NDArray[np.float64],
    leader: NDArray[np.float64],
    step: NDArray[np.float64],
    pull: NDArray[np.float64],
    p: NDArray[np.float64],
    reach: NDArray[np.float64],
    turn: NDArray[np.float64],
    other: NDArray[np.int64],
    shifted: bool,
    in_place: bool,
    clipped: bool,
) -> NDArray[np.float64]:
    """Move whale by whale and coordinate by coordinate; arrays with one column hold for all coordinates."""
    moved = positions.copy()
    seen = moved if in_place else positions
    for i in range(positions.shape[0]):
        for j in range(positions.shape[1]):
            c, at = min(j, step.shape[1] - 1), positions[i, j]
            if p[i, c] >= 0.5:
                to = abs(leader[j] - at) * reach[i] * turn[i] + leader[j]
            else:
                target = leader[j]
                if not abs(step[i, c]) < 1.0:
                    target = seen[other[i, min(j, other.shape[1] - 1)], j]
                way = pull[i, c] * abs(target - at) if shifted else abs(pull[i, c] * target - at)
                to = target - step[i, c] * way
            moved[i, j] = min(1.0, max(0.0, to)) if clipped else to
    return moved


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
        moved = move_whales(pod, leader, draws, a, rules=rules, distance=distance, spiral=spiral)
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
