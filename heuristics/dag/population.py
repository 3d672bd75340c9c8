"""What the population searches share: DEAP's individuals, and a log of rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from deap import base, creator, tools

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.search.progress import Callback
    from heuristics.search.run import SearchRun


# Fitness is (overflow bytes, objective), both minimised, the first counts more; integer weights keep large objectives
# exact. DEAP makes classes once per process.
creator.create("KeysFitness", base.Fitness, weights=(-1, -1))
creator.create("Whale", np.ndarray, fitness=creator.KeysFitness)
creator.create("Chromosome", np.ndarray, fitness=creator.KeysFitness)
creator.create("Particle", np.ndarray, fitness=creator.KeysFitness, speed=None, best=None)

Whale, Chromosome, Particle = creator.Whale, creator.Chromosome, creator.Particle


class RoundLog:
    """Writes one row per evaluated population.

    Columns: ``evaluations`` and ``seconds`` so far, ``best`` objective so far, ``mean`` objective of the members that
    keep the memory limits (both None where there is none), ``at_bounds``, the share of keys that are exactly 0 or 1:
    equal keys are ties, which go by index whatever the search wants.

    Parameters
    ----------
    run
        Counts the evaluations.
    callback
        Told of every row.
    """

    def __init__(self, run: SearchRun[NDArray[np.float64]], callback: Callback) -> None:
        self._run = run
        self._callback = callback
        self.logbook = tools.Logbook()
        self.logbook.header = ["evaluations", "seconds", "best", "mean", "at_bounds"]

    def record(self, points: NDArray[np.float64], fitness: NDArray[np.int64]) -> None:
        """Write a row about points, shape (count, keys), and their fitness, shape (count or fewer, 2)."""
        points = points[: len(fitness)]
        kept = fitness[fitness[:, 0] == 0, 1]
        progress = self._run.progress
        self.logbook.record(
            evaluations=progress.evaluations,
            seconds=progress.seconds,
            best=progress.objective,
            mean=float(kept.mean()) if len(kept) else None,
            at_bounds=float(((points == 0.0) | (points == 1.0)).mean()) if points.size else 0.0,
        )
        self._callback.on_round(self.logbook[-1])
