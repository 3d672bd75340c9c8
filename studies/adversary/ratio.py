"""The ratio of a heuristic to the proven optimum of an instance, or a proof that the ratio is too small to matter."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from heuristics.search.clock import Stopwatch
from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.objective import Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from solvers.backends.cp_sat import cp_sat
from solvers.lower_bound import lower_bound
from solvers.problem import DAG
from solvers.run.bound import Bound, best_bound, check_against_bounds
from solvers.run.exact_run import ExactRun
from solvers.run.outcome import Termination
from solvers.solve import solve
from studies.experiment.checked_method import method_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule
    from solvers.result import Result


class InterruptedRunError(KeyboardInterrupt):
    """Ctrl-C ended a run early, so that its result is not that of a whole run. Uncaught, it ends the command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """A heuristic whose ratio is measured, or the one that it is measured against.

    Parameters
    ----------
    method
        A registered name, or ``module:function``.
    seed
        Seed of every run. The adversary knows it: it finds what is bad for a randomised heuristic with this seed.
    evaluations
        Budget of a search; other methods have none.

    Raises
    ------
    ValueError
        If there is no such method.
    """

    method: str
    seed: int = 0
    evaluations: int = 50
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the method and the budget."""
        method_of(self.method)
        if self.evaluations < 1:
            raise ValueError(f"evaluations: expected at least 1, got {self.evaluations}.")

    @property
    def is_search(self) -> bool:
        """Whether it has a budget."""
        return DAG.resolve_method(method_of(self.method))[0] == "search"

    @property
    def is_random(self) -> bool:
        """Whether its result depends on the seed."""
        return "rng" in inspect.signature(DAG.resolve_method(method_of(self.method))[1]).parameters

    def run(
        self,
        instance: DagInstance,
        objective: Objective,
        bounds: Sequence[Bound] | None = None,
        *,
        seed: int | None = None,
    ) -> Result:
        """Return the verified result of one run, the same every time.

        Parameters
        ----------
        bounds
            Known lower bounds, which the objective must respect.
        seed
            Replaces the seed of the contestant.

        Raises
        ------
        InterruptedRunError
            If Ctrl-C ended the run.
        ContradictionError, UnverifiedScheduleError
            As `solve`.
        """
        result = solve(
            instance,
            method_of(self.method),
            objective=objective,
            stop=MaxEvaluations(self.evaluations) if self.is_search else None,
            threads=1,
            seed=self.seed if seed is None else seed,
            bounds=bounds,
            **self.parameters,
        )
        if result.termination is Termination.INTERRUPTED:
            raise InterruptedRunError(self.method)
        return result

    def to_dict(self) -> dict[str, object]:
        """Return what a run depends on, as JSON values."""
        return {
            "method": self.method,
            "parameters": {key: _json_value(value) for key, value in self.parameters.items()},
            "seed": self.seed,
            "evaluations": self.evaluations if self.is_search else None,
        }


def _json_value(value: object) -> object:
    """Return a value as JSON can hold it, as text if there is no other way."""
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WorstCase:
    """A heuristic's schedule and an optimal one, both verified.

    Parameters
    ----------
    bound
        The proof that `optimal` is optimal: its value is the objective of that schedule.
    rival
        Verified schedule of the other heuristic; None if the ratio is to the optimum.
    """

    instance: DagInstance
    objective: Objective
    heuristic: DagSchedule
    optimal: DagSchedule
    bound: Bound
    rival: DagSchedule | None = None

    @property
    def value(self) -> int:
        """Objective of the heuristic."""
        return objective_value(self.instance, self.heuristic, self.objective)

    @property
    def optimum(self) -> int:
        """The proven optimum."""
        return objective_value(self.instance, self.optimal, self.objective)

    @property
    def rival_value(self) -> int | None:
        """Objective of the other heuristic."""
        return None if self.rival is None else objective_value(self.instance, self.rival, self.objective)

    @property
    def ratio_to_optimum(self) -> float:
        """Objective of the heuristic over the optimum."""
        return self.value / self.optimum

    @property
    def ratio(self) -> float:
        """The ratio that is maximised: to the rival if there is one, else to the optimum."""
        rival = self.rival_value
        return self.ratio_to_optimum if rival is None else self.value / rival


DEFAULT_LIMIT = 20.0
"""Deterministic time of one proof; instances of 8 tasks on 3 GPUs need hundredths of it."""


def proven_optimum(
    instance: DagInstance,
    objective: Objective,
    start: DagSchedule,
    lower_bound: Bound,
    *,
    limit: float = DEFAULT_LIMIT,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[DagSchedule, Bound] | None:
    """Return a verified schedule and the bound that it meets; None if there is no such proof within the limit.

    CP-SAT runs with one thread and a limit in deterministic time, so that neither the clock nor the load of the machine
    influences the result.

    Parameters
    ----------
    start
        A verified schedule; it is returned if it meets the lower bound.
    limit
        Deterministic time (`ExactRun.deterministic_limit`).

    Raises
    ------
    InterruptedRunError
        If it was stopped.
    ContradictionError
        If the proof contradicts a verified schedule.
    """
    if objective_value(instance, start, objective) == lower_bound.value:
        return start, replace(lower_bound, seconds=0.0, is_optimum=True)
    run: ExactRun[DagSchedule] = ExactRun(
        start=start,
        lower_bound=lower_bound.value,
        time_limit=None,
        threads=1,
        seed=0,
        watch=Stopwatch(),
        report=lambda objective, bound: None,
        should_stop=should_stop,
        deterministic_limit=limit,
    )
    outcome = cp_sat(instance, objective, run)
    if outcome.termination is Termination.INTERRUPTED:
        raise InterruptedRunError("cp-sat")
    if outcome.schedule is None or outcome.lower_bound is None:
        return None
    if violations := verify_dag_schedule(instance, outcome.schedule):
        raise RuntimeError(f"cp-sat: expected a schedule that verifies, got {violations[0]}.")
    bound = Bound(
        value=outcome.lower_bound,
        method="cp-sat",
        proof="search to the end",
        solver=outcome.solver,
        is_optimum=True,
        objective_name=str(objective),
        threads=1,
        seed=0,
    )
    for schedule in (outcome.schedule, start):
        value = objective_value(instance, schedule, objective)
        check_against_bounds(instance, schedule, value, [bound], "cp-sat", 0)
    is_proven = objective_value(instance, outcome.schedule, objective) == bound.value
    return (outcome.schedule, bound) if is_proven else None


class NoRatioError(Exception):
    """There is no ratio: a heuristic found no schedule within the memory limits, or a schedule may cost nothing."""


class NotProvenError(NoRatioError):
    """There is no ratio because the optimum was not proven within the limit."""


class BelowError(Exception):
    """The ratio is provably below what was asked for."""


class _Measured(NamedTuple):
    """A ratio and what was computed for it; `optimum` is None if no proof was needed."""

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
    rival
        The heuristic in the denominator; None for the proven optimum.
    limit
        Deterministic time of each proof.
    should_stop
        Checked in proofs.
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
        at_least
            Smallest ratio of interest. If a lower bound without search shows that the ratio is smaller, the optimum is
            not computed. Whether the ratio is at least this is answered the same either way.

        Raises
        ------
        NoRatioError
            If there is no ratio.
        BelowError
            If the ratio is provably below `at_least`.
        InterruptedRunError
            If Ctrl-C ended a run.
        """
        return self._measure(instance, at_least).ratio

    def worst_case(self, instance: DagInstance) -> WorstCase:
        """Return the schedules behind the ratio, and a proven optimum even if the ratio is to another heuristic.

        Raises as `ratio`.
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
        bounds = lower_bound(instance, objective=self.objective, methods=DAG.start_bounds).unless_interrupted()
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
        schedule: DagSchedule | None = contestant.run(instance, self.objective, bounds).schedule
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
