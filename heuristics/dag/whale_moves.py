"""How whales move: the equations of the whale optimisation algorithm for a whole pod at once, in their variants."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def move_pod(
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
