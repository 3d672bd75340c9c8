"""The main loop of RTGS (Algorithm B) with a generator of placements that can be exchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from heuristics.dag.rtgs.herd_draws import draw_round
from heuristics.dag.rtgs.wished_loads import wished_loads
from heuristics.search_run import SearchRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heuristics.callback import Callback
    from heuristics.stop.stop_criterion import StopCriterion


class Litter(NamedTuple):
    """Placements that were made and timed together; n tasks."""

    gpu: NDArray[np.int64]  # (count, n)
    position: NDArray[
        np.float64
    ]  # (count, n) load r or rho of every task in ticks; more columns as the generator likes
    overflow: NDArray[np.int64]  # (count,), bytes beyond the memory limits
    objective: NDArray[np.int64]  # (count,)

    @property
    def fitness(self) -> NDArray[np.int64]:
        """(overflow bytes, objective) of each, shape (count, 2)."""
        return np.column_stack([self.overflow, self.objective])

    @property
    def best(self) -> int:
        """Index of the best by (overflow, objective); the first of several."""
        return int(np.lexsort((self.objective, self.overflow))[0])

    def only(self, index: int) -> Litter:
        """Return a litter of one of them."""
        row = slice(index, index + 1)
        return Litter(self.gpu[row], self.position[row], self.overflow[row], self.objective[row])


class PlacementGenerator(Protocol):
    """Makes a placement from every row of wished loads."""

    def generate(self, wishes: NDArray[np.float64], rng: np.random.Generator, a: float) -> Litter:
        """Return one placement per row, timed.

        Parameters
        ----------
        wishes
            Wished position: load h of every task in ticks, shape (count, n), and whatever else positions hold.
        rng
            Source of all random numbers.
        a
            Falls from 2 to 0 over a run.
        """


def roam(
    rng: np.random.Generator,
    stop: StopCriterion,
    callback: Callback,
    *,
    generator: PlacementGenerator,
    first: Litter,
    spiral: float = 1.0,
) -> Litter | None:
    """Let the herd roam until it is told to stop; return the best placement ever.

    In every round the leader stays as it is, and each other whale is replaced by the placement that the generator makes
    from its wished loads (`wished_loads`), better or not. The leader of the next round is the best of both; ties go to
    the old one, then to the first. With H whales and K full rounds there are H + K (H - 1) evaluations; the last round
    may be cut.

    Parameters
    ----------
    rng
        Source of all random numbers; per round `draw_round`, then what the generator draws.
    stop
        Asked after every evaluation; its share of the budget at the beginning of a round gives a = 2 (1 - share).
    callback
        Told of every evaluation and, after the first whales and every round, of evaluations and seconds so far, the
        best objective so far and the mean objective of the new placements that keep the memory limits.
    generator
        Makes and times placements, all of a round at once.
    first
        The H whales to begin with, at least 2.
    spiral
        Constant b of the spiral.

    Returns
    -------
    Litter | None
        Of one placement; None where all exceeded a memory limit.

    References
    ----------
    Du et al. (2025), J. Supercomputing 81(8):911, as in their public class. Deviations: see `wished_loads`; there a is
    2 (1 - k / K) in round k = 1..K.
    """
    run: SearchRun[Litter] = SearchRun(stop, callback)
    whales = first
    _record(run, callback, first)
    while not run.stopped:
        leader, a = whales.best, 2.0 * (1.0 - run.share)
        draws = draw_round(rng, *whales.position.shape)
        children = generator.generate(wished_loads(whales.position, leader, a, draws, spiral), rng, a)
        _record(run, callback, children)
        whales = joined([whales.only(leader), children])
    assert run.best_fitness is not None  # one evaluation at least
    return run.best_solution if run.best_fitness[0] == 0 else None


def joined(litters: Sequence[Litter]) -> Litter:
    """Return several litters, one at least, as one."""
    return Litter(*(np.concatenate(parts) for parts in zip(*litters, strict=True)))


def _record(run: SearchRun[Litter], callback: Callback, litter: Litter) -> None:
    """Count the placements until the run is stopped, and tell of the round."""
    counted = run.record_many(litter.fitness, [litter.only(index) for index in range(len(litter.gpu))])
    kept = litter.objective[:counted][litter.overflow[:counted] == 0]
    row = {
        "evaluations": run.progress.evaluations,
        "seconds": run.progress.seconds,
        "best": run.progress.objective,
        "mean": float(kept.mean()) if len(kept) else None,
    }
    callback.on_round(row)
