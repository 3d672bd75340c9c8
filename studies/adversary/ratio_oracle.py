"""The ratio of a heuristic on one instance, or a proof that it is too small to matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from instances.objective import Objective, objective_value
from solvers.lower_bound import best_bound, lower_bound
from solvers.solve import START_BOUNDS
from studies.adversary.proven_optimum import DEFAULT_LIMIT, proven_optimum
from studies.adversary.worst_case import WorstCase

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from solvers.bound import Bound
    from studies.adversary.contestant import Contestant


class NoRatioError(Exception):
    """There is no ratio: a heuristic ran into a memory limit, or a schedule may cost nothing."""


class NotProvenError(NoRatioError):
    """There is none because the optimum was not proven within the limit."""


class BelowError(Exception):
    """The ratio is provably below what was asked for."""


class _Measured(NamedTuple):
    """What was computed on the way to a ratio; no proven optimum where that was not needed."""

    ratio: float
    least: Bound
    heuristic: DagSchedule
    rival: DagSchedule | None
    optimum: tuple[DagSchedule, Bound] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioOracle:
    """Measures ratios to the proven optimum, or to another heuristic.

    Parameters
    ----------
    heuristic
        What is measured.
    rival
        Against what; None for the proven optimum.
    objective
        What is minimised.
    limit
        Deterministic time of each proof.
    should_stop
        Asked in proofs.
    """

    heuristic: Contestant
    rival: Contestant | None = None
    objective: Objective = Objective.MAKESPAN
    limit: float = DEFAULT_LIMIT
    should_stop: Callable[[], bool] = lambda: False

    def ratio(self, instance: DagInstance, at_least: float = 0.0) -> float:
        """Return the ratio that is maximised.

        Parameters
        ----------
        instance
            What is scheduled.
        at_least
            What is of interest. Where a lower bound without search shows that the ratio is below it, the optimum is not
            computed; so the answer to whether it is at least this is the same, only quicker.

        Raises
        ------
        NoRatioError
            If there is none.
        BelowError
            If it is provably below `at_least`.
        InterruptedRunError
            If Ctrl-C was heard.
        """
        return self._measure(instance, at_least).ratio

    def worst_case(self, instance: DagInstance) -> WorstCase:
        """Return the schedules behind the ratio, with a proven optimum also where the ratio is to another heuristic.

        Raises
        ------
        NoRatioError, InterruptedRunError
            As `ratio`.
        """
        measured = self._measure(instance, 0.0)
        optimum = measured.optimum
        if optimum is None:
            starts = [schedule for schedule in (measured.heuristic, measured.rival) if schedule is not None]
            optimum = self._optimum(instance, starts, measured.least)
        return WorstCase(
            instance=instance,
            objective=self.objective,
            heuristic=measured.heuristic,
            optimal=optimum[0],
            bound=optimum[1],
            rival=measured.rival,
        )

    def _measure(self, instance: DagInstance, at_least: float) -> _Measured:
        """Return the ratio and what was computed on the way to it."""
        bounds = lower_bound(instance, objective=self.objective, methods=START_BOUNDS)
        least = best_bound(bounds)
        if least is None or least.value <= 0:
            raise NoRatioError("a schedule may cost nothing")
        heuristic = self._run(self.heuristic, instance, bounds)
        value = objective_value(instance, heuristic, self.objective)
        if value / least.value < at_least:
            raise BelowError
        if self.rival is not None:
            rival = self._run(self.rival, instance, bounds)
            ratio = value / objective_value(instance, rival, self.objective)
            return _Measured(ratio, least, heuristic, rival, None)
        optimum = self._optimum(instance, [heuristic], least)
        return _Measured(value / optimum[1].value, least, heuristic, None, optimum)

    def _run(self, contestant: Contestant, instance: DagInstance, bounds: Sequence[Bound]) -> DagSchedule:
        """Return the schedule of a heuristic."""
        schedule = contestant.run(instance, self.objective, bounds).schedule
        if schedule is None:
            raise NoRatioError("no schedule")
        return schedule

    def _optimum(self, instance: DagInstance, starts: Sequence[DagSchedule], least: Bound) -> tuple[DagSchedule, Bound]:
        """Return a schedule that is proven optimal, and the proof."""
        start = min(starts, key=lambda schedule: objective_value(instance, schedule, self.objective))
        optimum = proven_optimum(instance, self.objective, start, least, limit=self.limit, should_stop=self.should_stop)
        if optimum is None:
            raise NotProvenError("not proven")
        return optimum
