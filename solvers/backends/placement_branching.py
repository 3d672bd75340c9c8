"""Branching on placements as a phase of `cp-sat`, and cases of classes of GPUs where that proves nothing new."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from formulations.dag.bounds.branched_classes import ClassClimb
from formulations.dag.bounds.branched_paths import MOST_PROGRAMS, PlacementSearch
from heuristics.dag.list_scheduling import place_by_list, within_memory
from instances.dag.objective import Objective, best_schedule, objective_value
from solvers.backends.memory_refutation import is_memory_binding

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule
    from solvers.run.exact_run import ExactRun
    from solvers.run.outcome import Outcome


FEW_PROGRAMS = 50
"""Linear programs that are solved for classes of GPUs without a time limit."""

MOST_PROGRAMS_IN_TIME = 10_000
"""Linear programs that branching may solve under a time limit: its end and its memory do not depend on a long one."""


@dataclass(frozen=True, slots=True)
class PlacementBranching:
    """A `PlacementSearch` within the limits of a run, for the makespan."""

    instance: DagInstance
    search: PlacementSearch
    run: ExactRun

    @classmethod
    def that_proves_more(
        cls, instance: DagInstance, schedule: DagSchedule | None, bound: int, run: ExactRun, share_of_time: float
    ) -> PlacementBranching | None:
        """Return a search that proved more than a bound in a share of the time that is left; None where it did not."""
        made, left = cls(instance, PlacementSearch(instance), run), run.seconds_of_share(share_of_time)
        made._search(schedule, lambda: 0.0 if made.search.bound > bound else left(), part=10)
        return made if made.search.bound > bound else None

    def go_on(self, schedule: DagSchedule | None, share_of_time: float) -> tuple[DagSchedule | None, int]:
        """Search for a share of the time that is left; return the best schedule and the bound.

        Placements that have come up become list schedules.
        """
        self._search(schedule, self.run.seconds_of_share(share_of_time))
        listed = (within_memory(self.instance, partial(place_by_list, pinned=gpu)) for gpu in self.search.placements)
        self.run.report(None, self.search.bound)
        return best_schedule(self.instance, Objective.MAKESPAN, (schedule, *listed)), self.search.bound

    def _search(self, schedule: DagSchedule | None, seconds_left: Callable[[], float], part: int = 1) -> None:
        """Go on while there is time, and for a part of the programs that a whole search may solve."""
        most = MOST_PROGRAMS if self.run.time_limit is None else MOST_PROGRAMS_IN_TIME
        self.search.run(
            at_most=_makespan(self.instance, schedule),
            most_programs=most // part,
            seconds_left=seconds_left,
        )


def try_branching(
    instance: DagInstance, schedule: DagSchedule | None, bound: int, run: ExactRun, share_of_time: float
) -> tuple[int, PlacementBranching | None, ClassClimb | None]:
    """Return a bound and what proved it, if it is new: branching on placements or a climb over deadlines.

    Each is tried for at most a share of the time that is left.

    The climb is tried where memory binds and branching did not prove more: on networks, which are close to a chain,
    branching proves more in the end, and a share of the time for both costs more than the better one gains.
    """
    branching = PlacementBranching.that_proves_more(instance, schedule, bound, run, share_of_time)
    if branching is not None:
        run.report(None, branching.search.bound)
        return branching.search.bound, branching, None
    climb = ClassClimb(instance, bound)
    if is_memory_binding(instance):
        climb_over_deadlines(climb, schedule, run, share_of_time)
    return climb.bound, None, climb if climb.bound > bound else None


def climb_over_deadlines(climb: ClassClimb, schedule: DagSchedule | None, run: ExactRun, share_of_time: float) -> int:
    """Return the bound after a climb over deadlines has gone on for a share of the time left."""
    climb.run(
        at_most=_makespan(climb.instance, schedule),
        most_programs=FEW_PROGRAMS if run.time_limit is None else math.inf,
        seconds_left=run.seconds_of_share(share_of_time),
    )
    run.report(None, climb.bound)
    return climb.bound


def at_once(
    raise_bound: Callable[[], tuple[DagSchedule | None, int]], improve: Callable[[ExactRun], Outcome], run: ExactRun
) -> tuple[list[DagSchedule | None], int]:
    """Raise a bound, with several threads improve schedules at the same time, and return schedules and bound.

    Branching on placements and cases of classes use one thread, which is the second one here, because the first hears
    Ctrl-C. The others improve schedules until the bound is raised as far as it goes.
    """
    if run.threads == 1:
        schedule, bound = raise_bound()
        return [schedule], bound
    with ThreadPoolExecutor(1) as pool:
        raised = pool.submit(raise_bound)
        heeded = replace(run, threads=run.threads - 1, should_stop=lambda: raised.done() or run.should_stop())
        improved = improve(heeded)
        schedule, bound = raised.result()
    return [schedule, improved.schedule], bound


def _makespan(instance: DagInstance, schedule: DagSchedule | None) -> int | None:
    """Return the makespan of a schedule, None without one."""
    return None if schedule is None else objective_value(instance, schedule, Objective.MAKESPAN)
