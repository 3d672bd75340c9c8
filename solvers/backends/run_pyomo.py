"""Running a Pyomo model of the DAG problem: a solver searches and CP-SAT confirms its claim."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from formulations.dag.probing.windows import windows
from formulations.model_too_large import ModelTooLargeError
from instances.dag.objective import Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from solvers.backends.highs import compile_milp, run_highs
from solvers.backends.highs_worker import run_highs_in_worker
from solvers.backends.second_opinion import asked_of_cp_sat
from solvers.run.contradiction import raise_contradiction
from solvers.run.outcome import Outcome, Termination
from solvers.run.versions import version_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyomo.environ as pyo

    from formulations.dag.milp.interface import PyomoDagModelFactory
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule
    from solvers.backends.highs import CompiledMilp, HighsAnswer
    from solvers.run.exact_run import ExactRun


CONFIRMATION_SHARE = 0.2
"""Share of the time limit that is kept for the second opinion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackEndAnswer:
    """What a back end believes; none of it is a proof.

    Parameters
    ----------
    has_solution
        Whether the variables of the model hold a solution now.
    dual_bound
        Bound in the units of the objective; None for none.
    is_infeasible
        Whether it found that there is no solution.
    termination
        Why it ended; finished where it has nothing left to do.
    failure
        Why it gave up; None where it did not.
    """

    has_solution: bool
    dual_bound: float | None
    is_infeasible: bool
    termination: Termination
    seconds: float
    failure: str | None = None


class BackEnd(Protocol):
    """Solves a Pyomo model and leaves the solution in its variables."""

    name: str  # for messages
    solver: str  # with its version

    def solve(
        self,
        model: pyo.ConcreteModel,
        *,
        has_start: bool,
        absolute_gap: float,
        time_limit: float,
        threads: int,
        seed: int,
        report: Callable[[float | None, float | None], None],
        should_stop: Callable[[], bool],
    ) -> BackEndAnswer:
        """Solve; `has_start` says that every variable has a value, `report` receives objectives and bounds."""
        ...


def run_pyomo(
    build: PyomoDagModelFactory, instance: DagInstance, objective: Objective, run: ExactRun, back_end: BackEnd
) -> Outcome:
    """Build a model within the windows of the start, let a back end solve it, and CP-SAT confirm what it claims.

    No bound rests on the back end alone: released solvers have returned wrong optima, and their tolerances can too.
    What CP-SAT cannot confirm in the time that is left is not claimed. Instances beyond the reach of the model are not
    tried: the run ends at once as failed, with the start and the bound that it was given. `build` is a class, or a
    `functools.partial` of one. Raises a `ContradictionError` if CP-SAT finds a schedule below what the back end proves,
    or the back end finds none where one is verified.
    """
    schedule = run.start
    at_most = None if schedule is None else objective_value(instance, schedule, objective)
    if at_most is not None and at_most <= run.lower_bound:
        return Outcome(schedule=schedule, lower_bound=run.lower_bound)
    within = windows(instance, objective, lower_bound=run.lower_bound, objective_at_most=at_most)
    if within.is_empty:
        return Outcome(schedule=None, lower_bound=None, is_infeasible=True)
    if run.should_stop():
        return Outcome(schedule=schedule, lower_bound=run.lower_bound, termination=Termination.INTERRUPTED)
    try:
        model = build(instance, objective, within)
    except ModelTooLargeError as error:
        failed = Termination.FAILED
        return Outcome(schedule=schedule, lower_bound=run.lower_bound, termination=failed, failure=str(error))
    has_start = schedule is not None and model.set_start(schedule)
    step = _least_step(instance, objective)
    answer = back_end.solve(
        model.pyomo_model,
        has_start=has_start,
        absolute_gap=0.999 * step,
        time_limit=run.seconds_left() * (1.0 - CONFIRMATION_SHARE),
        threads=run.threads,
        seed=run.seed,
        report=lambda value, _: run.report(whole_ticks(value), None),  # a bound counts once it is confirmed
        should_stop=run.should_stop,
    )
    if answer.has_solution:
        schedule = _better(instance, objective, schedule, model.schedule())
    if answer.is_infeasible:
        return _infeasible(instance, objective, run, schedule, answer, back_end)
    termination = Termination.INTERRUPTED if run.should_stop() else answer.termination
    claimed, confirmed_by = next_multiple(answer.dual_bound, within.at_most, step), None
    if schedule is not None:
        claimed = min(claimed, objective_value(instance, schedule, objective))
    if claimed > run.lower_bound and not run.should_stop():
        confirmed_by, better = asked_of_cp_sat(instance, objective, claimed, run)
        if better is not None and not verify_dag_schedule(instance, better):
            found = objective_value(instance, better, objective)
            raise_contradiction(
                instance,
                f"{back_end.name} proves {claimed}, CP-SAT finds {found}.",
                schedule=better,
                other_schedule=schedule,
                claims={back_end.solver: f"a bound of {claimed}", "CP-SAT": f"a schedule of {found}"},
                evidence=_evidence(back_end, run),
            )
    bound = claimed if confirmed_by is not None else run.lower_bound
    is_proved = schedule is not None and objective_value(instance, schedule, objective) <= bound
    failure = answer.failure if termination is Termination.FAILED else None
    if is_proved and termination is Termination.FAILED:
        termination, failure = Termination.FINISHED, None  # what it left is a proof all the same
    elif termination is Termination.FINISHED and not is_proved:
        termination, failure = Termination.FAILED, not_confirmed(back_end.name)  # what it believes is not proved
    return Outcome(
        schedule=schedule,
        lower_bound=bound,
        termination=termination,
        backend_seconds=answer.seconds,
        solver=back_end.solver,
        confirmed_by=confirmed_by,
        failure=failure,
    )


def not_confirmed(solver: str) -> str:
    """Return the reason of a run that failed because CP-SAT did not confirm what a solver claims to have proved."""
    return f"{solver}: expected a proof that CP-SAT confirms, got one that it did not confirm in the time left."


def _infeasible(
    instance: DagInstance,
    objective: Objective,
    run: ExactRun,
    schedule: DagSchedule | None,
    answer: BackEndAnswer,
    back_end: BackEnd,
) -> Outcome:
    """Return that there is no schedule, if CP-SAT says so too; a verified schedule contradicts it."""
    if schedule is not None:
        claim = f"{back_end.name} claims that no schedule exists within the objective of a verified one."
        raise_contradiction(instance, claim, schedule=schedule, evidence=_evidence(back_end, run))
    everything = windows(instance, objective, lower_bound=0, objective_at_most=None).at_most
    confirmed_by, found = asked_of_cp_sat(instance, objective, everything + 1, run)
    if found is not None and not verify_dag_schedule(instance, found):
        claim = f"{back_end.name} claims that no schedule exists, CP-SAT finds one."
        raise_contradiction(instance, claim, schedule=found, evidence=_evidence(back_end, run))
    return Outcome(
        schedule=None,
        lower_bound=None if confirmed_by is not None else run.lower_bound,
        is_infeasible=confirmed_by is not None,
        termination=Termination.FINISHED if confirmed_by is not None else Termination.TIME_LIMIT,
        backend_seconds=answer.seconds,
        solver=back_end.solver,
        confirmed_by=confirmed_by,
    )


def _evidence(back_end: BackEnd, run: ExactRun) -> dict[str, object]:
    """Return what a reproducer needs besides instance and schedule."""
    return {"solver": back_end.solver, "seed": run.seed}


def _better(
    instance: DagInstance, objective: Objective, old: DagSchedule | None, new: DagSchedule
) -> DagSchedule | None:
    """Return the better of two schedules; one that does not verify (a tolerance too far) counts as none."""
    if verify_dag_schedule(instance, new):
        return old
    return new if old is None else min(new, old, key=lambda one: objective_value(instance, one, objective))


def _least_step(instance: DagInstance, objective: Objective) -> int:
    """Return the least difference between two values of the objective."""
    if Objective(objective) is not Objective.WEIGHTED_COMPLETION:
        return 1
    return max(math.gcd(*instance.weight.tolist()), 1)


def whole_ticks(value: float | None) -> int | None:
    """Return an objective that a solver reports as ticks."""
    return None if value is None or not np.isfinite(value) else round(value)


def next_multiple(bound: float | None, at_most: int, step: int) -> int:
    """Round a bound up to a multiple of the objective's step, less what tolerances of 1e-6 can amount to; else 0."""
    if bound is None or not np.isfinite(bound):
        return 0
    return step * math.ceil((bound - 1e-3 - 1e-6 * at_most) / step)


def run_milp(
    build: PyomoDagModelFactory, instance: DagInstance, objective: Objective, run: ExactRun, *, worker: bool = False
) -> Outcome:
    """Solve a linear Pyomo model with HiGHS, and let CP-SAT confirm what it claims, as `run_pyomo` says.

    Parameters
    ----------
    build
        Makes the model: a class, or a `functools.partial` of one.
    worker
        Whether HiGHS runs in a process of its own, which is killed if it overruns the time limit.

    Raises
    ------
    ContradictionError
        If CP-SAT finds a schedule below what HiGHS proves, or HiGHS finds none where one is verified.
    """
    return run_pyomo(build, instance, objective, run, _Highs(worker=worker))


HIGHS_ERROR = "HiGHS: expected a solution within its tolerances, got a solve error."
"""The reason of a run that failed because HiGHS ended with an error."""


class _Highs:
    """HiGHS on the compiled model, in this process or in another one."""

    name = "HiGHS"

    def __init__(self, *, worker: bool) -> None:
        self.solver = f"highspy {version_of('highspy')}"
        self._run = run_highs_in_worker if worker else run_highs

    def solve(
        self, model: pyo.ConcreteModel, *, has_start: bool, time_limit: float, seed: int, **options: Any
    ) -> BackEndAnswer:
        """Compile, solve (`answer_of`), and load the solution."""
        milp, columns = compile_milp(model, has_start=has_start)
        answer = answer_of(self._run, milp, time_limit=time_limit, seed=seed, **options)
        if answer.solution is not None:
            for column, value in zip(columns, answer.solution, strict=True):
                column.set_value(value, skip_validation=True)
        termination = Termination.FINISHED if answer.is_finished else Termination.TIME_LIMIT
        return BackEndAnswer(
            has_solution=answer.solution is not None,
            dual_bound=answer.dual_bound,
            is_infeasible=answer.is_infeasible,
            termination=Termination.FAILED if answer.is_failed else termination,
            seconds=answer.seconds,
            failure=HIGHS_ERROR if answer.is_failed else None,
        )


def answer_of(
    run: Callable[..., HighsAnswer], milp: CompiledMilp, *, time_limit: float, seed: int, **options: Any
) -> HighsAnswer:
    """Return the answer of HiGHS; where it ends with an error, it is asked once more without presolve.

    Parameters
    ----------
    run
        `run_highs`, or `run_highs_in_worker`.
    time_limit
        Seconds for both runs.
    options
        The other parameters of `run_highs`.
    """
    answer = run(milp, time_limit=time_limit, seed=seed, **options)
    if not answer.is_failed or answer.seconds >= time_limit:
        return answer
    start = milp.start if answer.solution is None else answer.solution
    left = time_limit - answer.seconds
    again = run(replace(milp, start=start), time_limit=left, seed=seed + 1, presolve=False, **options)
    return replace(again if again.is_finished else _joined(answer, again), seconds=answer.seconds + again.seconds)


def _joined(first: HighsAnswer, second: HighsAnswer) -> HighsAnswer:
    """Return a second answer that is none either, with the better bound, and the solution that it began with."""
    bounds = [bound for bound in (first.dual_bound, second.dual_bound) if bound is not None]
    solution = first.solution if second.solution is None else second.solution
    return replace(second, solution=solution, dual_bound=max(bounds, default=None))
