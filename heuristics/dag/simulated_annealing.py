"""Simulated annealing on random keys, a rival of the whales."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

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

Fitness = tuple[int, int]


def sa(
    instance: DagInstance,
    objective: Objective,
    rng: np.random.Generator,
    stop: StopCriterion,
    callback: Callback,
    *,
    decoding: str = "ranked",
    samples: int = 50,
    first_acceptance: float = 0.4,
    last_acceptance: float = 0.001,
    keys_per_move: int = 2,
    heft_seed: bool = True,
    contention: Contention = Contention.NONE,
) -> DagSchedule | None:
    """Return the best schedule that simulated annealing finds, None where all exceed a memory limit.

    One point; a move replaces a few random keys by uniform numbers. A move that is not worse is accepted, a worse one
    with probability exp(-difference / temperature), one with more overflow bytes never. The temperature falls
    geometrically with the used share of the budget. It begins where the mean worsening among sampled moves would be
    accepted with probability `first_acceptance` and ends where it would be with `last_acceptance`.

    Parameters
    ----------
    instance, objective, stop, callback
        As in `woa`, with which it shares decoder, first member and evaluation count.
    rng
        Source of all random numbers: the first point, the sampled moves, per move keys, new keys and one for accepting.
    decoding
        As in `RandomKeys`.
    samples
        Moves from the first point that are evaluated for the temperature; they count, and none is taken. At least 1.
    first_acceptance, last_acceptance
        Probabilities in (0, 1), the last at most the first.
    keys_per_move
        Keys that a move replaces, at least 1 (all where there are not so many).
    heft_seed
        Whether the first point is HEFT's schedule.
    contention
        What transfers share, as in `heft`.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Kirkpatrick, Gelatt and Vecchi (1983), Optimization by simulated annealing, Science 220: acceptance, geometric
    temperatures. Johnson, Aragon, McGeoch and Schevon (1989), Operations Research 37(6): first temperature from a
    trial, acceptance 0.4. White (1984), Ben-Ameur (2004): temperatures from sampled differences. Ours: random keys and
    their decoder, HEFT seed, the last temperature by the same rule, the share of the budget as clock (with a criterion
    that is no budget the temperature stays the first).
    """
    _check(samples, first_acceptance, last_acceptance, keys_per_move)
    keys = RandomKeys(instance, objective, decoding, contention)
    run: SearchRun[NDArray[np.float64]] = SearchRun(stop, callback)
    evaluate = PointEvaluator(keys, run)
    points = keys.sample(rng, 1, heft_seed=heft_seed)
    point, fitness = points[0], _only(evaluate(points))
    trials = np.array([with_new_keys(point, rng, keys_per_move) for _ in range(samples if not run.stopped else 0)])
    if len(trials):
        worsening = mean_worsening(fitness, evaluate(trials))
        first, last = (worsening / -math.log(accepted) for accepted in (first_acceptance, last_acceptance))
    while not run.stopped:
        candidate = with_new_keys(point, rng, keys_per_move)
        luck, temperature = rng.random(), first * (last / first) ** run.share
        found = _only(evaluate(candidate[None, :]))
        if is_accepted(fitness, found, temperature, luck):
            point, fitness = candidate, found
    assert run.best_solution is not None  # one evaluation at least
    return keys.schedule(run.best_solution)


def with_new_keys(point: NDArray[np.float64], rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Return the point with `count` of its keys, drawn one by one, replaced by uniform numbers."""
    candidate = point.copy()
    for _ in range(min(count, len(point))):
        key = rng.integers(len(point))
        candidate[key] = rng.random()
    return candidate


def mean_worsening(fitness: Fitness, found: NDArray[np.int64]) -> float:
    """Return the mean difference to worse objectives at equal overflow, in ticks; 1 where none is worse.

    Parameters
    ----------
    fitness
        Of the point from which the moves begin.
    found
        Fitness after each move, shape (count, 2).
    """
    worse = found[(found[:, 0] == fitness[0]) & (found[:, 1] > fitness[1]), 1]
    return float(worse.mean() - fitness[1]) if len(worse) else 1.0


def is_accepted(fitness: Fitness, found: Fitness, temperature: float, luck: float) -> bool:
    """Say whether a move is accepted.

    Parameters
    ----------
    fitness, found
        Before and after the move: (overflow bytes, objective).
    temperature
        In ticks, or in what the objective counts; above 0.
    luck
        Random number in [0, 1).
    """
    if found <= fitness:
        return True
    return found[0] == fitness[0] and luck < math.exp(-(found[1] - fitness[1]) / temperature)


def _only(fitness: NDArray[np.int64]) -> Fitness:
    """Return the fitness of one point."""
    overflow, objective = fitness[0].tolist()
    return overflow, objective


def _check(samples: int, first_acceptance: float, last_acceptance: float, keys_per_move: int) -> None:
    """Check the parameters of the annealing."""
    if samples < 1:
        raise ValueError(f"samples: expected at least 1, got {samples}.")
    if not 0.0 < first_acceptance < 1.0:
        raise ValueError(f"first_acceptance: expected a number between 0 and 1, got {first_acceptance}.")
    if not 0.0 < last_acceptance <= first_acceptance:
        expected = f"a number above 0 and at most {first_acceptance}"
        raise ValueError(f"last_acceptance: expected {expected}, got {last_acceptance}.")
    if keys_per_move < 1:
        raise ValueError(f"keys_per_move: expected at least 1, got {keys_per_move}.")
