"""RTGS as in the authors' public class, on its own scheduling model: Algorithms A, B and C."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.load_vector import final_loads
from heuristics.dag.rtgs.population import desired_loads, draw_round
from heuristics.search.settings import require_at_least
from instances.frozen_array import frozen_floats

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from heuristics.dag.rtgs.population import RoundDraws


@dataclass(frozen=True, slots=True, eq=False)
class PublishedModel:
    """Tasks with work, GPUs with speed, predecessors; task i takes work[i] / speed[k] on GPU k.

    Tasks are placed in index order, one at a time per GPU, without insertion into idle gaps. Times have the unit of
    work over speed, not ticks.

    Parameters
    ----------
    work
        Work of each task, shape (n,), not negative.
    speed
        Speed of each GPU, shape (m,), positive.
    predecessors
        Predecessors of each task; all have smaller indices (the public class does not check that).

    Raises
    ------
    ValueError
        If there is no GPU, a number is out of range, or a predecessor's index is not smaller.

    References
    ----------
    Du et al. (2025), J. Supercomputing 81(8):911, as in the authors' public class.
    """

    work: NDArray[np.float64]
    speed: NDArray[np.float64]
    predecessors: Sequence[Sequence[int]]
    durations: NDArray[np.float64] = field(init=False, repr=False)
    """work[i] / speed[k], shape (n, m)."""

    def __post_init__(self) -> None:
        """Take private copies and check them."""
        object.__setattr__(self, "work", frozen_floats(self.work, place="work", shape=(None,)))
        object.__setattr__(self, "speed", frozen_floats(self.speed, place="speed", shape=(None,)))
        before = tuple(tuple(int(task) for task in tasks) for tasks in self.predecessors)
        object.__setattr__(self, "predecessors", before)
        for task in np.flatnonzero(self.work < 0)[:1]:
            raise ValueError(f"work[{task}]: expected at least 0, got {self.work[task]}.")
        for k in np.flatnonzero(self.speed <= 0)[:1]:
            raise ValueError(f"speed[{k}]: expected a positive number, got {self.speed[k]}.")
        if not len(self.speed):
            raise ValueError("speed: expected at least one GPU, got none.")
        if len(before) != len(self.work):
            raise ValueError(f"predecessors: expected {len(self.work)} lists, one per task, got {len(before)}.")
        for task, tasks in enumerate(before):
            for other in tasks:
                if not 0 <= other < task:
                    raise ValueError(f"predecessors[{task}]: expected tasks before {task}, got {other}.")
        durations = np.divide.outer(self.work, self.speed)
        durations.flags.writeable = False
        object.__setattr__(self, "durations", durations)

    def times(self, gpu: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return start and finish of every task under a placement.

        s[i] = max(max over predecessors h of f[h], avail[x[i]]); f[i] = s[i] + work[i] / speed[x[i]]; avail[x[i]] =
        f[i], where x[i] is the GPU of task i.
        """
        start, finish, available = np.zeros(len(gpu)), np.zeros(len(gpu)), np.zeros(len(self.speed))
        for task, k in enumerate(gpu.tolist()):
            ready = max((finish[other] for other in self.predecessors[task]), default=0.0)
            start[task] = max(ready, available[k])
            finish[task] = available[k] = start[task] + self.durations[task, k]
        return start, finish

    def makespan(self, gpu: NDArray[np.int64]) -> float:
        """Return the largest finish under a placement, the final finish time (FFT) of the authors."""
        return float(self.times(gpu)[1].max(initial=0.0))

    def greedy_placement(self, desired: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the placement that Algorithm C makes of desired loads, both of shape (n,).

        In index order, task i goes to the GPU k with the least abs(h[i] - (load[k] + work[i] / speed[k])), ties to the
        lowest index, where load[k] is the load of k so far.
        """
        gpu, load = np.empty(len(desired), dtype=np.int64), np.zeros(len(self.speed))
        for task, durations in enumerate(self.durations):
            gpu[task] = np.abs(desired[task] - (load + durations)).argmin()
            load[gpu[task]] += durations[gpu[task]]
        return gpu


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PublishedRun:
    """Result of a run of the published algorithm."""

    gpu: NDArray[np.int64]  # (n,), GPU of every task in the best placement
    makespan: float  # of the best placement, in the unit of work over speed
    trace: NDArray[np.float64]  # (K + 1,), makespan of the leader at the beginning and after every round
    evaluations: int  # placements that were timed: H + K (H - 1)


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
    """Run the published algorithm on a `PublishedModel`; every first placement is uniform over the GPUs.

    Parameters
    ----------
    rng
        Draws (H, n) numbers u in [0, 1) for the first placements floor(m u), then `draw_round` per round.
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
    81(8):911, as in the authors' public class. Deviations repair its defects: it does not compile; it skips every whale
    that ties with the leader and then has too few whales (here only the leader itself is skipped, by position); it
    searches endlessly for a random whale where none is eligible (`desired_loads`); it has no seed and does not check
    that indices are topological.
    """
    model = PublishedModel(np.asarray(work, dtype=np.float64), np.asarray(speed, dtype=np.float64), predecessors)
    require_at_least(2, population=population)
    require_at_least(0, iterations=iterations)
    n, m = model.durations.shape
    first = np.floor(m * rng.random((population, n))).astype(np.int64)
    rounds = (draw_round(rng, population, n) for _ in range(iterations))
    return run_rounds(model, first, rounds, iterations, spiral=spiral)


def run_rounds(
    model: PublishedModel,
    first: NDArray[np.int64],
    rounds: Iterable[RoundDraws],
    iterations: int,
    *,
    spiral: float = 1.0,
) -> PublishedRun:
    """Run Algorithm B from the first placements, shape (H, n), with given random numbers for each of the K rounds.

    In round k = 1..K, a' = 2 (1 - k / K).
    """
    whales, makespans = first, np.array([model.makespan(whale) for whale in first])
    trace = [makespans.min()]
    for number, draws in enumerate(rounds, start=1):
        a = 2.0 * (1.0 - number / iterations)
        whales, makespans = next_population(model, whales, makespans, a, draws, spiral=spiral)
        trace.append(makespans.min())
    best = int(makespans.argmin())
    return PublishedRun(
        gpu=whales[best],
        makespan=float(makespans[best]),
        trace=np.array(trace),
        evaluations=len(first) + (len(trace) - 1) * (len(first) - 1),
    )


def next_population(
    model: PublishedModel,
    whales: NDArray[np.int64],
    makespans: NDArray[np.float64],
    a: float,
    draws: RoundDraws,
    *,
    spiral: float = 1.0,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the population after one round of Algorithm B and its makespans: the leader first, then all children.

    Whales have shape (H, n), their makespans (H,); the first whale with the least makespan leads.
    """
    leader = int(makespans.argmin())
    desired = desired_loads(final_loads(model.durations, whales), leader, a, draws, spiral)
    children = np.array([model.greedy_placement(loads) for loads in desired], dtype=np.int64)
    timed = np.array([model.makespan(child) for child in children])
    return np.concatenate([whales[[leader]], children]), np.concatenate([makespans[[leader]], timed])
