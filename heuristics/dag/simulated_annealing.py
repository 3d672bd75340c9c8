"""Simulated annealing on random keys."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.key_search import key_search
from heuristics.search.settings import require_at_least

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.key_search import KeysRun, Proposals
    from heuristics.dag.random_keys import RandomKeys

Fitness = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnealingSettings:
    """Parameters of `sa`.

    Parameters
    ----------
    decoding
        As in `RandomKeys`.
    samples
        Moves from the first point that are evaluated to find the first temperature; they count as evaluations, and
        none is accepted. At least 1.
    first_acceptance, last_acceptance
        Probabilities in (0, 1), the last at most the first.
    keys_per_move
        Keys that a move replaces, at least 1 (all keys where there are fewer).
    heft_seed
        Whether the first point is HEFT's schedule.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    decoding: str = "ranked"
    samples: int = 50
    first_acceptance: float = 0.4
    last_acceptance: float = 0.001
    keys_per_move: int = 2
    heft_seed: bool = True

    def __post_init__(self) -> None:
        """Check the ranges."""
        require_at_least(1, samples=self.samples)
        if not 0.0 < self.first_acceptance < 1.0:
            raise ValueError(f"first_acceptance: expected a number between 0 and 1, got {self.first_acceptance}.")
        if not 0.0 < self.last_acceptance <= self.first_acceptance:
            expected = f"a number above 0 and at most {self.first_acceptance}"
            raise ValueError(f"last_acceptance: expected {expected}, got {self.last_acceptance}.")
        require_at_least(1, keys_per_move=self.keys_per_move)


@key_search(AnnealingSettings, logs_rounds=False)
def sa(settings: AnnealingSettings, keys: RandomKeys, rng: np.random.Generator, run: KeysRun) -> Proposals:
    """Change one point by random moves at a falling temperature; parameters as in `AnnealingSettings`.

    A move replaces a few random keys by uniform numbers. A move that is not worse is accepted, a worse one with
    probability exp(-difference / temperature), one with more overflow bytes never. The temperature falls geometrically
    with the used share of the budget, from the value at which the mean worsening among the sampled moves would be
    accepted with probability `first_acceptance` to the value for `last_acceptance`. Random numbers are drawn for the
    first point, the sampled moves, and per move for its keys, their new values and the acceptance.

    References
    ----------
    Kirkpatrick, Gelatt and Vecchi (1983), Optimization by simulated annealing, Science 220: acceptance, geometric
    temperatures. Johnson, Aragon, McGeoch and Schevon (1989), Operations Research 37(6): first temperature from a
    trial, acceptance 0.4. White (1984), Ben-Ameur (2004): temperatures from sampled differences. Ours: random keys and
    their decoder, HEFT seed, the last temperature by the same rule, the share of the budget as clock (with a criterion
    that is no budget the temperature stays the first).
    """
    point = keys.sample(rng, 1, heft_seed=settings.heft_seed)[0]
    fitness = _only((yield point[None, :]))
    sampled = yield np.array([with_new_keys(point, rng, settings.keys_per_move) for _ in range(settings.samples)])
    worsening = mean_worsening(fitness, sampled)
    first, last = (worsening / -math.log(one) for one in (settings.first_acceptance, settings.last_acceptance))
    while True:
        candidate = with_new_keys(point, rng, settings.keys_per_move)
        draw, temperature = rng.random(), first * (last / first) ** run.share
        found = _only((yield candidate[None, :]))
        if is_accepted(fitness, found, temperature, draw):
            point, fitness = candidate, found


def with_new_keys(point: NDArray[np.float64], rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Return the point with `count` of its keys, drawn one by one, replaced by uniform numbers."""
    candidate = point.copy()
    for _ in range(min(count, len(point))):
        key = rng.integers(len(point))
        candidate[key] = rng.random()
    return candidate


def mean_worsening(fitness: Fitness, found: NDArray[np.int64]) -> float:
    """Return the mean difference to worse objectives at equal overflow, in ticks; 1 where none is worse.

    Takes the fitness of the point from which the moves begin and that after each move, shape (count, 2).
    """
    worse = found[(found[:, 0] == fitness[0]) & (found[:, 1] > fitness[1]), 1]
    return float(worse.mean() - fitness[1]) if len(worse) else 1.0


def is_accepted(fitness: Fitness, found: Fitness, temperature: float, draw: float) -> bool:
    """Say whether a move is accepted.

    Parameters
    ----------
    fitness, found
        (overflow bytes, objective) before and after the move.
    temperature
        In the unit of the objective, above 0.
    draw
        Random number in [0, 1).
    """
    if found <= fitness:
        return True
    return found[0] == fitness[0] and draw < math.exp(-(found[1] - fitness[1]) / temperature)


def _only(fitness: NDArray[np.int64]) -> Fitness:
    """Return the fitness of one point."""
    overflow, objective = fitness[0].tolist()
    return overflow, objective
