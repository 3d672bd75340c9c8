"""RTGS as the authors' public class has it, on its own model: Algorithms A, B and C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.load_vector import final_loads
from heuristics.dag.rtgs.herd_draws import draw_round
from heuristics.dag.rtgs.published_model import PublishedModel
from heuristics.dag.rtgs.wished_loads import wished_loads

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from heuristics.dag.rtgs.herd_draws import HerdDraws


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PublishedRun:
    """What a run of the published algorithm found.

    Parameters
    ----------
    gpu
        GPU of every task in the best placement, shape (n,).
    makespan
        Of the best placement, in the unit of work over speed.
    trace
        Makespan of the leader at the beginning and after every round, shape (K + 1,).
    evaluations
        Placements that were timed: H + K (H - 1).
    """

    gpu: NDArray[np.int64]
    makespan: float
    trace: NDArray[np.float64]
    evaluations: int


def published_rtgs(
    work: ArrayLike,
    speed: ArrayLike,
    predecessors: Sequence[Sequence[int]],
    rng: np.random.Generator,
    population: int = 10,
    iterations: int = 50,
    *,
    spiral: float = 1.0,
) -> PublishedRun:
    """Run the published algorithm; every first placement is uniform over the GPUs.

    Parameters
    ----------
    work
        Of each task, shape (n,).
    speed
        Of each GPU, shape (m,).
    predecessors
        Of each task; all have smaller indices.
    rng
        Source of all random numbers: (H, n) numbers u in [0, 1) for the first placements floor(m u), then `draw_round`
        per round.
    population
        Number of whales H, at least 2; 10 is the authors' toy setting, that of their experiments is not stated.
    iterations
        Number of rounds K; 50 is the authors' toy setting.
    spiral
        Constant b.

    Raises
    ------
    ValueError
        If a parameter is out of range; see `PublishedModel`.

    References
    ----------
    Du et al. (2025), Scheduling DAG-structured workloads based on whale optimization algorithm, J. Supercomputing
    81(8):911, as in the authors' public class. Deviations cure its defects: it does not compile; it skips every whale
    that ties with the leader and then runs out of whales (here only the leader itself, by position); it searches for a
    random whale without end where none is eligible (`wished_loads`); it has no seed and does not check that indices are
    topological.
    """
    model = PublishedModel(np.asarray(work, dtype=np.float64), np.asarray(speed, dtype=np.float64), predecessors)
    if population < 2:
        raise ValueError(f"population: expected at least 2, got {population}.")
    if iterations < 0:
        raise ValueError(f"iterations: expected at least 0, got {iterations}.")
    n, m = model.durations.shape
    first = np.floor(m * rng.random((population, n))).astype(np.int64)
    rounds = (draw_round(rng, population, n) for _ in range(iterations))
    return run_rounds(model, first, rounds, iterations, spiral=spiral)


def run_rounds(
    model: PublishedModel,
    first: NDArray[np.int64],
    rounds: Iterable[HerdDraws],
    iterations: int,
    *,
    spiral: float = 1.0,
) -> PublishedRun:
    """Run Algorithm B with given random numbers.

    Parameters
    ----------
    model
        What is scheduled.
    first
        The first placements, shape (H, n).
    rounds
        Random numbers of each of the K rounds.
    iterations
        Number of rounds K: a' = 2 (1 - k / K) in round k = 1..K.
    spiral
        Constant b.
    """
    whales, makespans = first, np.array([model.makespan(whale) for whale in first])
    trace = [makespans.min()]
    for number, draws in enumerate(rounds, start=1):
        a = 2.0 * (1.0 - number / iterations)
        whales, makespans = next_herd(model, whales, makespans, a, draws, spiral=spiral)
        trace.append(makespans.min())
    best = int(makespans.argmin())
    return PublishedRun(
        gpu=whales[best],
        makespan=float(makespans[best]),
        trace=np.array(trace),
        evaluations=len(first) + (len(trace) - 1) * (len(first) - 1),
    )


def next_herd(
    model: PublishedModel,
    whales: NDArray[np.int64],
    makespans: NDArray[np.float64],
    a: float,
    draws: HerdDraws,
    *,
    spiral: float = 1.0,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the herd after one round of Algorithm B and its makespans: the leader first, then all children.

    Parameters
    ----------
    model
        What is scheduled.
    whales
        Placements, shape (H, n); the first of those with the least makespan leads.
    makespans
        Of the whales, shape (H,).
    a
        a' of the round.
    draws
        Random numbers of the round.
    spiral
        Constant b.
    """
    leader = int(makespans.argmin())
    wishes = wished_loads(final_loads(model.durations, whales), leader, a, draws, spiral)
    children = np.array([model.greedy_placement(wish) for wish in wishes], dtype=np.int64)
    timed = np.array([model.makespan(child) for child in children])
    return np.concatenate([whales[[leader]], children]), np.concatenate([makespans[[leader]], timed])
