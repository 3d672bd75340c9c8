"""What one thread does: anneal, and repair windows."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.reinsertion.reinsertion_search import ReinsertionSearch
from instances.objective import Objective
from solvers.lns.budget import Budget
from solvers.lns.window_choice import WindowChoice
from solvers.lns.window_repair import Repair, repair_window

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance
    from solvers.exact_run import ExactRun
    from solvers.lns.incumbent import Incumbent

MOVES = 2_000
"""Moves of the reinsertion search per iteration."""

HOTTEST, COLDEST = 0.01, 0.0001
"""Temperature at the beginning and at the end, share of the objective."""

REPAIRS_FROM = 0.5
"""Share of the budget after which windows are repaired: before, annealing would undo what they win."""


class Chain:
    """One annealing chain and one choice of windows, both at work on the common incumbent.

    Parameters
    ----------
    instance, objective
        What is scheduled, and what is minimised.
    incumbent
        Where to begin, and what is told of better schedules.
    waste
        Ticks that each GPU wastes on each task, shape (n, m).
    run, iterations
        Limits and ears.
    member
        Number of the thread; each has random numbers of its own. Number 0 of one anneals and repairs in turn; number 0
        of several only anneals, and in the second half odd ones only repair.
    """

    def __init__(
        self,
        instance: DagInstance,
        objective: Objective,
        incumbent: Incumbent,
        waste: NDArray[np.float64],
        run: ExactRun,
        iterations: int | None,
        member: int,
    ) -> None:
        self._instance, self._objective = instance, objective
        self._incumbent, self._run, self._budget = incumbent, run, Budget(run, iterations)
        self._rng = np.random.default_rng([run.seed, member])
        self._search = ReinsertionSearch(instance, objective, incumbent.best()[0], waste, self._rng)
        self._windows = WindowChoice(instance, self._rng)
        self._repairs_too = run.threads == 1
        self._only_repairs_later = member % 2 == 1
        self.seconds = 0.0
        """Spent in CP-SAT so far."""

    def work(self) -> None:
        """Go on until the budget is used up, the run is stopped, or there is nothing left to do."""
        for iteration in count():
            share = self._budget.share(iteration)
            if share >= 1.0 or self._must_stop():
                return
            is_late = share >= REPAIRS_FROM
            if (is_late and (self._repairs_too or self._only_repairs_later)) or self._windows.covers_everything:
                self._repair()
            if not (is_late and self._only_repairs_later) and not self._must_stop():
                self._anneal(share, is_late)

    def _must_stop(self) -> bool:
        """Whether to stop at once."""
        return self._incumbent.is_closed or self._budget.must_stop()

    def _anneal(self, share: float, is_late: bool) -> None:
        """Make moves, from the incumbent where that one is ahead."""
        schedule, value = self._incumbent.best()
        weight = 1
        if self._objective is Objective.WEIGHTED_COMPLETION:
            weight = max(int(self._instance.weight.sum()), 1)
        temperature = HOTTEST * (COLDEST / HOTTEST) ** share * value / weight
        lead = self._search.best_value - value
        if lead > 0 and (is_late or lead > 3.0 * temperature * weight):
            self._search.adopt(schedule)
        self._search.run(MOVES, temperature, self._run.lower_bound, self._must_stop)
        if self._search.best_value < value:
            self._incumbent.offer(self._search.best)

    def _repair(self) -> None:
        """Let CP-SAT decide one window."""
        schedule, value = self._incumbent.best()
        is_everything = self._windows.covers_everything
        first, last, most_gpus = self._windows.next()
        seed = int(self._rng.integers(2**31))
        ended, better, seconds = repair_window(
            self._instance, self._objective, schedule, value, first, last, most_gpus, self._run, seed
        )
        self.seconds += seconds
        self._windows.learn(ended)
        if better is not None:
            self._incumbent.offer(better)
        elif ended is Repair.NONE and is_everything:
            self._incumbent.close()
