"""The search over placements and windows as a phase of `cp-sat`: its share of the time, and schedules in its nodes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.branched_windows import WindowClimb, WindowSearch
from formulations.dag.probing.refuter import NO_LIMIT
from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import place_by_list, schedule_of
from heuristics.dag.reinsertion.search import ReinsertionSearch
from instances.dag.objective import Objective, best_schedule, objective_value

if TYPE_CHECKING:
    from formulations.dag.bounds.branched_windows import Way
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule
    from solvers.run.exact_run import ExactRun


PROOF = "search over placements and windows: all that is below is refuted"
"""What proves a bound of that search."""

SLICE = 0.3
"""Largest share of the time left after which the search must have found or proved something to go on."""

WORK_WITHOUT_LIMIT = 5_000_000_000
"""Elementary steps of a search without a time limit, each time; some seconds."""

MOVES = 250
"""Moves of the reinsertion search in every node; about 10 milliseconds, where a node takes 30 to 100."""


WORK_AT_BOUND = 1_000_000_000
"""Elementary steps of the search for a schedule that meets a bound; a second or less.

On 34 of 37 graphs whose optimum is the bound of `probing` the search finds such a schedule within these steps, on 24 of
them in the first node (docs/methods/exact_methods.md, section 2.1).
"""


def at_bound(
    instance: DagInstance, run: ExactRun[DagSchedule], bound: int, share: float
) -> tuple[DagSchedule | None, int]:
    """Look for a schedule whose makespan is a bound; return the best one that came up, and the bound.

    If no schedule meets it, the bound is one higher and is tried in turn, for at most `MOST_TICKS` makespans. The first
    search ends after `WORK_AT_BOUND` steps. Once it has refuted its makespan, all searches together end after
    `WORK_ABOVE_BOUND` steps. A share of the time that is left ends them in any case.
    """
    seconds_left, most_work, last = run.seconds_of_share(share), WORK_AT_BOUND, bound + MOST_TICKS
    schedule: DagSchedule | None = None
    while bound < last and most_work > 0:
        search = WindowSearch(instance, partial(_build, instance, run.seed))
        search.run(bound, most_work=most_work, seconds_left=seconds_left)
        schedule = best_schedule(instance, Objective.MAKESPAN, (schedule, search.schedule))
        if not search.is_refuted:
            break
        bound += 1
        most_work = min(most_work, WORK_ABOVE_BOUND) - search.work
    return schedule, bound


WORK_ABOVE_BOUND, MOST_TICKS = 100_000_000, 10
"""Elementary steps of all these searches if the first one refutes the bound, a tenth of a second or less; and the most
makespans that are tried."""


class WindowRounds:
    """A `WindowClimb` within the limits of a run, for the makespan.

    Parameters
    ----------
    schedule, bound
        Verified and proven before.

    Attributes
    ----------
    schedule, bound
        The best ones known.
    """

    def __init__(self, instance: DagInstance, run: ExactRun[DagSchedule], schedule: DagSchedule, bound: int) -> None:
        self._instance, self._run = instance, run
        self._climb = WindowClimb(instance, schedule, bound, partial(_build, instance, run.seed))
        self._seconds = 0.0

    @property
    def schedule(self) -> DagSchedule:
        """Return the best schedule known."""
        assert self._climb.schedule is not None
        return self._climb.schedule

    @property
    def bound(self) -> int:
        """Return the best bound known."""
        return self._climb.bound

    @property
    def has_proved_optimum(self) -> bool:
        """Whether nothing is left to find or to prove, and the last that was proved is due to this search."""
        return self._climb.has_proved and self._climb.is_settled

    def search(self, schedule: DagSchedule, bound: int, share: float, share_of_forecast: float) -> None:
        """Go on from what others found in the meantime.

        A slice of the time left comes first. The search then goes on while its forecast for the rest of the proof is
        within a share of the time left. It also goes on for a given share of the time left as long as every slice
        finds a schedule or proves a bound.
        """
        run, climb = self._run, self._climb
        climb.take(schedule, bound)
        most_work = WORK_WITHOUT_LIMIT if run.time_limit is None else NO_LIMIT
        should_stop = run.stops_after(share)
        while not climb.is_settled and not run.must_stop():
            known, began, left = self._known(), run.watch.seconds, run.seconds_of_share(min(share, SLICE))
            climb.run(most_work=most_work, seconds_left=left, threads=run.threads, report=run.report)
            self._seconds += run.watch.seconds - began
            is_stuck = should_stop() or self._known() == known
            forecast = climb.forecast() / max(1, climb.work) * self._seconds
            if run.time_limit is None or (is_stuck and not forecast <= share_of_forecast * run.seconds_left()):
                return

    def _known(self) -> tuple[int, int]:
        """Return the best makespan and the bound."""
        return objective_value(self._instance, self.schedule, Objective.MAKESPAN), self.bound


def _build(instance: DagInstance, seed: int, ways: list[Way]) -> DagSchedule | None:
    """Return the best list schedule of GPUs and orders after some moves of the reinsertion search, or None."""
    arrays = dag_arrays(instance)
    listed = (schedule_of(instance, place_by_list(arrays, -order.astype(float), pinned=gpu)) for gpu, order in ways)
    best = best_schedule(instance, Objective.MAKESPAN, listed)
    if best is None:
        return None
    no_waste = np.where(instance.allowed, 0.0, np.inf)
    # The same seed in every node, so that it does not matter which thread works on it.
    search = ReinsertionSearch(instance, Objective.MAKESPAN, best, no_waste, np.random.default_rng(seed))
    search.run(MOVES, temperature=0.0, good_enough=0)
    return search.best
