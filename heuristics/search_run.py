"""Counting, remembering the best and stopping: the same for every search."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Generic, TypeVar

from heuristics.progress import Progress
from heuristics.stopwatch import Stopwatch

if TYPE_CHECKING:
    from heuristics.callback import Callback
    from heuristics.stop.stop_criterion import StopCriterion

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
        self.progress = replace(self.progress, evaluations=self.progress.evaluations + 1, seconds=self._watch.seconds)
        if self.best_fitness is None or fitness < self.best_fitness:
            self.best_fitness, self.best_solution = fitness, solution
            self.progress = replace(
                self.progress,
                objective=fitness[1] if fitness[0] == 0 else None,
                improved_at=self.progress.evaluations,
            )
            if fitness[0] == 0:
                self._callback.on_incumbent(self.progress)
        self._callback.on_evaluation(self.progress)
        self.stopped = self._callback.wants_stop or self._stop(self.progress)
