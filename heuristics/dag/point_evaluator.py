"""Evaluating points of random keys for a search: as many per call of the kernel as its stop criterion can wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.stopwatch import Stopwatch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.random_keys import RandomKeys
    from heuristics.search_run import SearchRun

BATCH_SECONDS = 0.02
"""How long a call of the kernel may take: so much later than due a search may stop."""

_FIRST_BATCH = 200_000
"""Pairs of task and GPU in the first call, about as many as the kernel tries in that time."""

MOST_POINTS = 256
"""Points per call at most: beyond it nothing is gained."""


class PointEvaluator:
    """Evaluates points in order, counts each in a run, and stops where the run does.

    Batches have no influence on what is counted and found, only on when a clock is looked at.

    Parameters
    ----------
    keys
        The decoder.
    run
        Counts the evaluations.
    """

    def __init__(self, keys: RandomKeys, run: SearchRun[NDArray[np.float64]]) -> None:
        self._keys = keys
        self._run = run
        pairs = max(1, keys.instance.num_tasks * keys.instance.num_gpus)
        self.batch = max(1, min(MOST_POINTS, _FIRST_BATCH // pairs))
        """Points that the next call of the kernel takes at most."""

    def __call__(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the fitness of the points, shape (count, 2); fewer rows where the run was stopped before the last.

        Parameters
        ----------
        points
            Shape (count, keys).
        """
        fitness = np.empty((len(points), 2), dtype=np.int64)
        done = 0
        while done < len(points) and not self._run.stopped:
            chosen = slice(done, done + self.batch)
            watch = Stopwatch()
            fitness[chosen] = self._keys.evaluate_many(points[chosen])
            seconds_per_point = watch.seconds / len(fitness[chosen])
            self.batch = max(1, min(MOST_POINTS, int(BATCH_SECONDS / max(seconds_per_point, 1e-9))))
            done += self._run.record_many(fitness[chosen], points[chosen])
        return fitness[:done]
