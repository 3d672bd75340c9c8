"""Rounds of the search over down-sets: each for a better schedule, or for the proof that there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.dag.down_sets.down_set_search import DownSetSearch
from instances.objective import Objective, objective_value
from solvers.outcome import Outcome
from solvers.status import Termination

if TYPE_CHECKING:
    from collections.abc import Callable

    from formulations.dag.windows import Windows
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from solvers.exact_run import ExactRun

PROOF = "search over down-sets: all that is below is dominated or refuted"
"""What proves a bound of these rounds."""


class DownSetRounds:
    """A schedule and a bound that one round after the other may make better.

    Parameters
    ----------
    instance, objective
        What is scheduled and minimised.
    run
        Threads, and whom to tell.
    schedule, bound
        Verified and proven before, None and 0 where there is nothing.

    Attributes
    ----------
    schedule, bound
        What is known now.
    is_infeasible
        Whether no schedule exists.
    is_settled
        Whether that is all there is to know.
    has_proved
        Whether that is what one of these rounds proved, and not what was known before.
    is_at_its_widest
        Whether memory does not allow the width of the last round, or more.
    """

    def __init__(
        self, instance: DagInstance, objective: Objective, run: ExactRun, schedule: DagSchedule | None, bound: int
    ) -> None:
        self.schedule, self.bound = schedule, bound
        self.is_infeasible = self.has_proved = self.is_at_its_widest = False
        self._instance, self._objective, self._run = instance, objective, run
        self._search = DownSetSearch(instance, objective)
        self._exact_depth: dict[bool, int] = {}
        self._windows: dict[int | None, Windows] = {}

    @property
    def value(self) -> int | None:
        """Objective of the schedule, None without one."""
        return None if self.schedule is None else objective_value(self._instance, self.schedule, self._objective)

    @property
    def is_settled(self) -> bool:
        """Whether the schedule is proven optimal, or there is none."""
        return self.is_infeasible or (self.value is not None and self.bound >= self.value)

    @property
    def exact_share(self) -> float:
        """Share of the layers that some round went through before it dropped a label."""
        return max(self._exact_depth.values(), default=0) / max(self._instance.num_tasks, 1)

    def round(self, width: int, should_stop: Callable[[], bool], *, until_dropped: bool = False) -> None:
        """Search with layers of some width; in both directions of time, later in the one that drops labels later.

        Parameters
        ----------
        width
            Labels per layer.
        should_stop
            Asked about twenty times a second.
        until_dropped
            Whether only a proof matters: then each search stops at the first label that it has to drop.
        """
        for backwards in self._directions():
            again = True
            while again and not self.is_settled and not should_stop():
                again = self._search_once(width, should_stop, backwards=backwards, until_dropped=until_dropped)

    def outcome(self, termination: Termination = Termination.FINISHED, backend_seconds: float = 0.0) -> Outcome:
        """Return what is known, and what proves the bound if these rounds do."""
        return Outcome(
            schedule=self.schedule,
            lower_bound=None if self.is_infeasible else self.bound,
            is_infeasible=self.is_infeasible,
            termination=termination,
            backend_seconds=backend_seconds,
            proof=PROOF if self.has_proved else None,
        )

    def _search_once(
        self, width: int, should_stop: Callable[[], bool], *, backwards: bool, until_dropped: bool
    ) -> bool:
        """Search in one direction, and say whether the same search may find more."""
        value = self.value
        if value not in self._windows:  # probing takes up to a second
            self._windows = {value: self._search.windows(None if value is None else value - 1, self.bound)}
        found = self._search.search(
            self._windows[value],
            width=width,
            backwards=backwards,
            until_dropped=until_dropped,
            threads=self._run.threads,
            should_stop=should_stop,
        )
        self.is_at_its_widest = not found.is_complete and found.width < width
        self._exact_depth[backwards] = max(self._exact_depth.get(backwards, 0), found.exact_depth)
        if found.schedule is not None:
            new = objective_value(self._instance, found.schedule, self._objective)
            is_better = value is None or new < value
            if is_better:
                self.schedule = found.schedule
                self._run.report(new, None)
            return is_better and found.is_complete
        if found.is_complete:
            self.is_infeasible = value is None
            self.bound, self.has_proved = self.bound if value is None else value, True
            self._run.report(None, self.bound)
        return False

    def _directions(self) -> list[bool]:
        """Return in which directions to search."""
        if self._objective is not Objective.MAKESPAN:
            return [False]
        if len(self._exact_depth) < 2:
            return [False, True]
        return [self._exact_depth[True] > self._exact_depth[False]]
