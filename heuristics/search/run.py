"""Counting, remembering the best and stopping: the same for every search."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from heuristics.search.clock import Stopwatch
from heuristics.search.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from heuristics.search.progress import Callback
    from heuristics.search.stop_criteria import StopCriterion


Solution = TypeVar("Solution")


class SearchRun(Generic[Solution]):
    """One run of a search.

    Fitness is (overflow bytes, objective), compared lexicographically; a solution with overflow is worse than any
    without. Ties keep the older solution.

    Parameters
    ----------
    stop
        Asked after every evaluation.
    callback
        Told of every evaluation and incumbent.
    """

    def __init__(self, stop: StopCriterion, callback: Callback) -> None:
        self._stop = stop
        self._callback = callback
        self._watch = Stopwatch()
        self.progress = Progress()
        self.stopped = False
        self.best_fitness: tuple[int, int] | None = None
        self.best_solution: Solution | None = None

    @property
    def share(self) -> float:
        """Used share of the budget in [0, 1]."""
        return self._stop.share(self.progress)

    def record(self, fitness: tuple[int, int], solution: Solution) -> None:
        """Count one evaluation and ask whether to stop; the solution is kept as it is where it is the best."""
        before, is_best = self.progress, self.best_fitness is None or fitness < self.best_fitness
        evaluations, objective = before.evaluations + 1, before.objective
        if is_best:
            self.best_fitness, self.best_solution = fitness, solution
            objective = fitness[1] if fitness[0] == 0 else None
        self.progress = Progress(  # not `replace`, which costs more than a move of a whale
            evaluations=evaluations,
            seconds=self._watch.seconds,
            objective=objective,
            lower_bound=before.lower_bound,
            improved_at=evaluations if is_best else before.improved_at,
        )
        if is_best and objective is not None:
            self._callback.on_incumbent(self.progress)
        self._callback.on_evaluation(self.progress)
        self.stopped = self._callback.wants_stop or self._stop(self.progress)

    def record_many(self, fitnesses: NDArray[np.int64], solutions: Sequence[Solution] | NDArray[Any]) -> int:
        """Count evaluations one by one, asking after each whether to stop; return how many were counted.

        Those after a stop are as if they had never been made.

        Parameters
        ----------
        fitnesses
            (overflow bytes, objective) of each, shape (count, 2).
        solutions
            As many, such as the rows of an array; the best is copied.
        """
        for count, (overflow, objective) in enumerate(fitnesses.tolist(), start=1):
            fitness, solution = (overflow, objective), solutions[count - 1]
            is_best = self.best_fitness is None or fitness < self.best_fitness
            self.record(fitness, copy.copy(solution) if is_best else solution)
            if self.stopped:
                return count
        return len(fitnesses)
