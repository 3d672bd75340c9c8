"""Counting evaluations, remembering the best solution and stopping: the same for every search."""

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

    Fitness is (overflow bytes, objective), compared lexicographically: a solution that exceeds the memory limits is
    worse than any that keeps them. On a tie the older solution stays the best one.

    Parameters
    ----------
    stop
        Queried after every evaluation.
    callback
        Receives every evaluation and incumbent.
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
        """Count one evaluation and query the stop criterion; the best solution is kept without a copy."""
        before, is_best = self.progress, self.best_fitness is None or fitness < self.best_fitness
        evaluations, objective = before.evaluations + 1, before.objective
        if is_best:
            self.best_fitness, self.best_solution = fitness, solution
            objective = fitness[1] if fitness[0] == 0 else None
        self.progress = Progress(  # not `replace`, which takes longer than the move of a whale
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
        """Count evaluations one by one until the run stops; return how many were counted.

        Evaluations after the stop count as never made.

        Parameters
        ----------
        fitnesses
            (overflow bytes, objective) of each solution, shape (count, 2).
        solutions
            Such as the rows of an array; the best one is copied.
        """
        for count, (overflow, objective) in enumerate(fitnesses.tolist(), start=1):
            fitness, solution = (overflow, objective), solutions[count - 1]
            is_best = self.best_fitness is None or fitness < self.best_fitness
            self.record(fitness, copy.copy(solution) if is_best else solution)
            if self.stopped:
                return count
        return len(fitnesses)
