"""The random numbers of one round of the herd, drawn at once so that they can be recorded and given."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class HerdDraws(NamedTuple):
    """What Algorithm B draws for the whales that move, all but the leader; n tasks."""

    r1: NDArray[np.float64]  # (count,), uniform in [0, 1): A = 2 a r1 - a
    p: NDArray[np.float64]  # (count,), uniform in [0, 1): spiral or not
    other: NDArray[np.int64]  # (count,), place of the random whale among those that are neither leader nor mover
    sign: NDArray[np.float64]  # (count, n), -1 or 1
    l: NDArray[np.float64]  # (count, n), uniform in [-1, 1): where on the spiral


def draw_round(rng: np.random.Generator, population: int, num_columns: int) -> HerdDraws:
    """Draw everything that a round needs.

    Parameters
    ----------
    rng
        Source of all random numbers.
    population
        Number of whales H, the leader among them, at least 2.
    num_columns
        Of a position: the number of tasks n where it holds loads only.
    """
    count = population - 1
    return HerdDraws(
        r1=rng.random(count),
        p=rng.random(count),
        other=rng.integers(max(1, population - 2), size=count),
        sign=np.where(rng.integers(2, size=(count, num_columns)) == 1, 1.0, -1.0),
        l=rng.uniform(-1.0, 1.0, size=(count, num_columns)),
    )
