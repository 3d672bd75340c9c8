"""The whale optimisation algorithm in lists and loops: an oracle for moves, and a yardstick of a benchmark.

Mirjalili and Lewis (2016), eqs. 2.1 to 2.8, with the random numbers of a round given.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heuristics.dag.whale_optimisation import Draws


def plain_moves(
    whales: list[list[float]],
    leader: list[float],
    draws: Draws,
    a: float,
    *,
    variant: str = "printed",
    distance: str = "original",
    spiral: float = 1.0,
) -> list[list[float]]:
    """Return where all whales move; clipped as they go in variant "mealpy" only.

    Parameters
    ----------
    whales, leader
        Positions.
    draws
        Random numbers of the round.
    a, variant, distance, spiral
        As in `woa`.
    """
    before = [list(whale) for whale in whales]
    after = [list(whale) for whale in whales]
    r1, r2, p, l, other = (entry.tolist() for entry in draws)
    for index, whale in enumerate(before):
        for j, x in enumerate(whale):
            if variant == "mealpy":
                numbers, chosen = (r1[index][j], r2[index][j], p[index][j]), other[index][j]
            else:
                numbers = (r1[index][0], r2[index][0], p[index][0])
                chosen = other[index][0] if variant == "printed" else other[index][j]
            big_a, big_c = 2 * a * numbers[0] - a, 2 * numbers[1]
            if numbers[2] >= 0.5:
                angle = 2 * math.pi * l[index]
                to = abs(leader[j] - x) * math.exp(spiral * l[index]) * math.cos(angle) + leader[j]
            else:
                random_whale = before[chosen] if variant == "printed" else after[chosen]
                target = leader[j] if abs(big_a) < 1 else random_whale[j]
                way = abs(big_c * target - x) if distance == "original" else big_c * abs(target - x)
                to = target - big_a * way
            after[index][j] = min(1.0, max(0.0, to)) if variant == "mealpy" else to
    return after
