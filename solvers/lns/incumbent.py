"""The best schedule of a run, shared by all threads."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from instances.objective import objective_value

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from instances.objective import Objective
    from solvers.exact_run import ExactRun


class Incumbent:
    """Keeps the best schedule and reports every better one.

    Parameters
    ----------
    instance, objective
        What schedules are judged by.
    schedule
        To begin with.
    run
        Told of better objectives; its bound is where there is nothing left to do.

    Attributes
    ----------
    schedule
        The best one.
    value
        Its objective.
    is_closed
        Whether the search is over: the bound is met, or the widest neighbourhood holds nothing better.
    """

    def __init__(self, instance: DagInstance, objective: Objective, schedule: DagSchedule, run: ExactRun) -> None:
        self._instance, self._objective, self._run = instance, objective, run
        self._lock = threading.Lock()
        self.schedule = schedule
        self.value = objective_value(instance, schedule, objective)
        self.is_closed = self.value <= run.lower_bound
        run.report(self.value, None)

    def offer(self, schedule: DagSchedule) -> None:
        """Keep a schedule if it is better."""
        value = objective_value(self._instance, schedule, self._objective)
        with self._lock:
            if value >= self.value:
                return
            self.schedule, self.value = schedule, value
            self.is_closed = self.is_closed or value <= self._run.lower_bound
        self._run.report(value, None)

    def best(self) -> tuple[DagSchedule, int]:
        """Return the best schedule and its objective."""
        with self._lock:
            return self.schedule, self.value

    def close(self) -> None:
        """Say that nothing better is to be found."""
        self.is_closed = True
