"""The whale optimisation algorithm on random keys, in its variants: how whales move, and the search itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from deap import tools

from heuristics.dag.key_search import Whale, key_search
from heuristics.dag.priorities import noisy_ranks
from heuristics.search.settings import require_at_least, require_between, require_choice
from instances.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.key_search import KeysRun, Proposals
    from heuristics.dag.random_keys import RandomKeys


_LARGEST_EXPONENT = 300.0  # of the spiral; whatever is farther away ends at the border of the cube all the same


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveRules:
    """What the printed equations leave open, or an implementation does in its own way."""

    vectors: bool = False  # r1, r2 and p are drawn for every coordinate, not once per whale
    whale_per_coordinate: bool = False  # another random whale is drawn for every coordinate
    may_be_itself: bool = False  # the random whale may be the whale that moves
    widening: bool = False  # l is uniform in (-1 - e, 1], e the elapsed part of the run, not in [-1, 1]
    in_place: bool = False  # random whales with a lower index have already moved; else all move from one snapshot
    clipped_at_once: bool = False  # those whales are already clipped to the cube


VARIANTS = {
    "printed": MoveRules(),
    "reference": MoveRules(whale_per_coordinate=True, may_be_itself=True, widening=True, in_place=True),
    "mealpy": MoveRules(vectors=True, whale_per_coordinate=True, widening=True, in_place=True, clipped_at_once=True),
}
"""The variants by name, as documented in `WhaleSettings`."""

AROUND_RANK = "rank"
"""The variant of ours that begins around HEFT's ranks; see `whales_around_rank`."""

CHANGED_PRIORITIES = 2.0
"""Priorities that a whale of that variant changes per move, in the mean."""

CHANGE_SPREAD = 0.6
"""Standard deviation of the logarithm of such a change; 0.3 and 1 were no better on 20 other graphs."""

REDRAWN = 0.2
"""How often it draws the weight of the look-ahead anew; 0.05 was worse on graphs of 30 tasks."""

DISTANCES = ("original", "shifted")
ACCEPTANCES = ("always", "greedy")


@dataclass(frozen=True, slots=True, kw_only=True)
class WhaleSettings:
    """Parameters of `woa`.

    Parameters
    ----------
    population
        Number of whales H, at least 2. With E evaluations there are E // H - 1 rounds; the last one may be cut.
    decoding
        As in `RandomKeys`.
    variant
        "printed": scalars r1, r2, p and l in [-1, 1] per whale, another random whale per whale, all from one snapshot;
        what the paper leaves open is ours. "reference": as in the authors' MATLAB code of 2016: l in a range that
        widens to (-2, 1], a random whale per coordinate that may be the whale itself, a above 0 at the end; random
        whales with a lower index have already moved and are not yet clipped. "mealpy": as `OriginalWOA` of mealpy 3.1:
        r1, r2 and p per coordinate, l widening, another random whale per coordinate, a exactly 0 at the end; whales
        move in place and are clipped at once. "rank": ours, see `whales_around_rank`; for decodings "eft" and
        "look-ahead", without the three parameters that follow.
    distance
        "original": |C X* - X| as published; "shifted": C |X* - X|, which has no pull to the corner 0 (ours).
    acceptance
        "always" as published; "greedy" keeps the better of a whale before and after its move, the moved one on a tie.
    spiral
        Shape b of the logarithmic spiral.
    heft_seed
        Whether whale 0 begins at HEFT's schedule.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    population: int = 20
    decoding: str = "ranked"
    variant: str = "printed"
    distance: str = "original"
    acceptance: str = "always"
    spiral: float = 1.0
    heft_seed: bool = True

    def __post_init__(self) -> None:
        """Check the ranges."""
        require_at_least(2, population=self.population)
        require_choice("variant", self.variant, (*VARIANTS, AROUND_RANK))
        if self.variant == AROUND_RANK:
            require_choice("decoding", self.decoding, ("eft", "look-ahead"))
        require_choice("distance", self.distance, DISTANCES)
        require_choice("acceptance", self.acceptance, ACCEPTANCES)
        require_between(-700, 700, spiral=self.spiral)  # beyond, exp(b l) is no float


@key_search(WhaleSettings)
def woa(settings: WhaleSettings, keys: RandomKeys, rng: np.random.Generator, run: KeysRun) -> Proposals:
    """Move a population of whales, points of the unit cube; parameters as in `WhaleSettings`.

    In every round all whales move and are clipped to the cube; the leader is the best point ever seen. The used share
    of the budget drives a, which falls from 2 (`elapsed_part`). Random numbers are drawn as `draw` says.

    References
    ----------
    Mirjalili and Lewis (2016), The Whale Optimization Algorithm, doi 10.1016/j.advengsoft.2016.01.008. Ours: random
    keys and their decoder, HEFT seed, a from the used share of the budget.
    """
    if settings.variant == AROUND_RANK:
        yield from whales_around_rank(settings, keys, rng, run)
    rules = VARIANTS[settings.variant]
    whales = [Whale(point) for point in keys.sample(rng, settings.population, heft_seed=settings.heft_seed)]
    leader = tools.HallOfFame(1, similar=np.array_equal)
    points = np.array(whales)
    fitness = yield points
    first_share = run.share
    while True:
        _accept(whales, points, fitness, settings.acceptance)
        leader.update(whales)
        elapsed = elapsed_part(settings.variant, run.share, first_share)
        draws, a = draw(rng, rules, len(whales), keys.num_keys, elapsed), 2.0 * (1.0 - elapsed)
        positions, best, distance = np.array(whales), np.asarray(leader[0]), settings.distance
        moved = move_whales(positions, best, draws, a, rules=rules, distance=distance, spiral=settings.spiral)
        points = np.clip(moved, 0.0, 1.0)
        fitness = yield points


def whales_around_rank(settings: WhaleSettings, keys: RandomKeys, rng: np.random.Generator, run: KeysRun) -> Proposals:
    """Move whales that begin around HEFT's ranks and keep what does not get worse; ours.

    Priorities begin at the ranks times log-normal noise (`noisy_ranks`), those of whale 0 at the ranks themselves with
    the HEFT seed, so that it is HEFT's schedule. With A as in the published equations a whale moves to the leader where
    |A| < 1, else to a random whale, by taking over a share of the target's keys that is uniform in [0, 1 - used share
    of the budget]. Then about two of its priorities are multiplied by log-normal noise, and with "look-ahead" its
    weight is at times drawn anew. The moved whale stays where its fitness is not worse.
    """
    n, count = keys.instance.num_tasks, settings.population
    rank = keys.rank
    rank = rank * 2.0 ** -math.ceil(math.log2(max(1.0, rank.max(initial=0.0))) + 2)  # by a power of 2: order stays
    whales = rng.random((count, keys.num_keys))
    whales[:, :n] = np.minimum(noisy_ranks(rank, rng, count), 1.0)
    if settings.heft_seed:
        whales[0] = keys.heft_keys() if keys.repairs_heft else np.append(rank, np.zeros(keys.num_keys - n))
    fitness = yield whales
    while True:
        left = 1.0 - run.share
        target = rng.integers(count, size=count)
        target[np.abs(2.0 * left * (2.0 * rng.random(count) - 1.0)) < 1.0] = np.lexsort(fitness.T[::-1])[0]
        taken = rng.random(whales.shape) < left * rng.random((count, 1))
        moved = np.where(taken, whales[target], whales)
        factor = np.exp(CHANGE_SPREAD * rng.standard_normal((count, n)))
        changed = rng.random((count, n)) < CHANGED_PRIORITIES / max(1, n)
        moved[:, :n] = np.where(changed, np.minimum(moved[:, :n] * factor, 1.0), moved[:, :n])
        drawn = rng.random((2, count, keys.num_keys - n))
        moved[:, n:] = np.where(drawn[0] < REDRAWN, drawn[1], moved[:, n:])
        found = yield moved
        stays = (found[:, 0] < fitness[:, 0]) | ((found[:, 0] == fitness[:, 0]) & (found[:, 1] <= fitness[:, 1]))
        whales[stays], fitness[stays] = moved[stays], found[stays]


def elapsed_part(variant: str, share: float, first_share: float) -> float:
    """Return e, the elapsed part of the run that sets a = 2 (1 - e).

    "printed": the used share of the budget. "reference": without the first population, so e = t/T, t = 0..T-1, with
    E = H T evaluations (the original evaluates at the head of its loop and moves T times, the last time without
    effect). "mealpy": e = t/T, t = 1..T, with E = H (T + 1).

    Parameters
    ----------
    variant
        One of `VARIANTS`.
    share, first_share
        Used share of the budget now, and after the evaluation of the first population; both are 0 where the stop
        criterion is no budget, and then a stays 2.
    """
    if variant == "reference":
        return max(0.0, share - first_share)
    if variant == "mealpy":
        return min(1.0, share / (1.0 - first_share)) if first_share < 1.0 else 1.0
    return share


class Draws(NamedTuple):
    """Random numbers of one round for H whales in d dimensions; c is 1 (one per whale) or d (one per coordinate)."""

    r1: NDArray[np.float64]  # (H, c), in [0, 1)
    r2: NDArray[np.float64]  # (H, c), in [0, 1)
    p: NDArray[np.float64]  # (H, c), in [0, 1)
    l: NDArray[np.float64]  # (H,)
    other: NDArray[np.int64]  # (H, c), indices of random whales


def draw(rng: np.random.Generator, rules: MoveRules, num_whales: int, dimension: int, elapsed: float) -> Draws:
    """Draw the random numbers of one round for at least two whales.

    Scalars are drawn whale by whale (r1, r2, p, l, then the other whale), vectors array by array. The elapsed part of
    the run, see `elapsed_part`, widens l where the rules say so.
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

    With A = 2 a r1 - a and C = 2 r2: p < 0.5 and |A| < 1 encircles the leader X*, p < 0.5 and |A| >= 1 explores around
    the random whale, else the whale follows a spiral around the leader; Mirjalili and Lewis (2016), eqs. 2.1 to 2.8.

    Parameters
    ----------
    positions, leader
        Shapes (H, d) and (d,).
    a
        Falls from 2 to 0 in the course of a run.
    rules
        They determine the order in which whales move; what is drawn they have determined before.
    distance, spiral
        As in `WhaleSettings`.
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


@kernel
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


def _accept(whales: list[Any], points: NDArray[np.float64], fitness: NDArray[np.int64], acceptance: str) -> None:
    """Move the whales to their new points; with "greedy", only those whose fitness does not get worse."""
    for whale, point, values in zip(whales, points, fitness.tolist(), strict=True):
        before = whale.fitness.wvalues
        whale.fitness.values = values
        if acceptance == "greedy" and before > whale.fitness.wvalues:
            whale.fitness.wvalues = before
        else:
            whale[:] = point
