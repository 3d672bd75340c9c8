"""The one way to run anything."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from heuristics.search.clock import Stopwatch
from heuristics.search.progress import Callback
from heuristics.search.stop_criteria import AnyOf, MaxEvaluations, MaxSeconds
from instances.dag.contention import Contention
from instances.dag.objective import Objective, objective_value
from instances.dag.schedule import DagSchedule
from instances.dag.verify import verify_dag_schedule
from instances.jobs.instance import JobsInstance
from solvers.check_arguments import (
    check_arguments,
    check_bounds,
    check_confirmation,
    check_contention,
    knows_contention,
)
from solvers.confirm import confirm_outcome
from solvers.confirmation.claim import CONFIRM_SECONDS, confirmation_run
from solvers.lower_bound import lower_bound
from solvers.methods import KINDS_WITH_RUN, WARM_START_METHODS, method_named, resolve_method
from solvers.result import Result
from solvers.run.bound import best_bound, check_against_bounds, with_proof
from solvers.run.exact_run import ExactRun, Interrupt
from solvers.run.outcome import Outcome, Termination
from solvers.run.recorder import Recorder
from solvers.run.versions import available_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heuristics.search.progress import Progress
    from heuristics.search.stop_criteria import StopCriterion
    from instances.dag.instance import DagInstance
    from instances.jobs.objective import JobsObjective
    from instances.jobs.schedule import JobsSchedule
    from solvers.methods import Kind
    from solvers.result import JobsResult
    from solvers.run.bound import Bound


START_BOUNDS = ("join-aware-path", "area", "mean-busy-time")
"""Where exact and improving methods begin: the best bounds that cost next to nothing; the others follow if need be."""


@overload
def solve(
    instance: DagInstance,
    method: str | Callable[..., DagSchedule | None] = "cp-sat",
    *,
    objective: Objective | str | None = None,
    time_limit: float | None = None,
    stop: StopCriterion | None = None,
    threads: int | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    bounds: Sequence[Bound] | None = None,
    start: DagSchedule | None = None,
    confirm: bool = False,
    confirm_time_limit: float | None = None,
    contention: Contention | str = Contention.NONE,
    **parameters: Any,
) -> Result: ...
@overload
def solve(
    instance: JobsInstance,
    method: str | Callable[..., JobsSchedule | None] = "cp-sat",
    *,
    objective: JobsObjective | str | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    bounds: Sequence[Bound] | None = None,
    start: JobsSchedule | None = None,
    **parameters: Any,
) -> JobsResult: ...
def solve(
    instance: DagInstance | JobsInstance,
    method: str | Callable[..., Any] = "cp-sat",
    *,
    objective: Objective | JobsObjective | str | None = None,
    time_limit: float | None = None,
    stop: StopCriterion | None = None,
    threads: int | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    bounds: Sequence[Bound] | None = None,
    start: DagSchedule | JobsSchedule | None = None,
    confirm: bool = False,
    confirm_time_limit: float | None = None,
    contention: Contention | str = Contention.NONE,
    **parameters: Any,
) -> Result | JobsResult:
    """Run one method on one instance; verify, bound and time it.

    Parameters
    ----------
    instance
        What is scheduled. A `JobsInstance` is handed over to `solve_jobs`, whose parameters are described there.
    method
        Name of a registered method, or a function of your own: it takes the instance and whichever of `objective`,
        `rng`, `stop`, `callback` and `contention` its signature names, and returns a schedule or None.
    objective
        What is minimised; by default the makespan, for jobs the total completion time.
    time_limit
        Seconds for the method; None lets an exact method run until it has a proof, and others to the end of their
        default budgets. Constructions, which build one schedule, do not need it.
    stop
        Budget of a search; by default `run_heuristic.DEFAULT_EVALUATIONS` evaluations, or the time limit where there is
        one.
    threads
        Of exact and improving methods; by default all cores. Heuristics use one.
    seed
        Of everything random, at least 0.
    callback
        Watches the run and may stop it.
    bounds
        Bounds that are known already; by default those without search are computed.
    start
        A schedule for exact and improving methods to begin with, beside the best list schedule.
    confirm
        Whether a second model is asked to refute that a schedule below the proven bound exists (or, of an infeasible
        instance, any schedule), as `solvers.confirmation.claim` says. For exact methods.
    confirm_time_limit
        Seconds for that, after and beside `time_limit`; by default as many as that, and `CONFIRM_SECONDS` where there
        is none. Where they are over without an answer the bound stands, and the result says that nothing confirms it.
    contention
        What transfers share: "none", or "nic" for the network interfaces of servers, one transfer per side at a time
        (see `Contention`). The schedule is verified with it; methods that do not know the rule are refused.
    parameters
        Of the method.

    Returns
    -------
    Result
        With the best schedule found, or none; time limits and Ctrl-C are no errors.

    Raises
    ------
    ValueError
        If an argument is out of range, the method has no such parameter or does not know contention, or a given bound
        rests on contention where there is none.
    ContradictionError
        If a proven bound exceeds a verified objective, of this method or of the second model; a reproducer file is
        left.
    UnverifiedScheduleError
        If the method returned a schedule that violates a constraint.
    """
    if isinstance(instance, JobsInstance):
        from solvers.solve_jobs import solve_jobs_as_asked

        return solve_jobs_as_asked(
            instance,
            method,
            for_dags={
                "stop": stop,
                "confirm": confirm or None,
                "confirm_time_limit": confirm_time_limit,
                "contention": None if contention == Contention.NONE else contention,
            },
            objective=objective,
            time_limit=time_limit,
            threads=threads,
            seed=seed,
            callback=callback,
            bounds=bounds,
            start=start,
            parameters=parameters,
        )
    objective = Objective(Objective.MAKESPAN if objective is None else objective)
    contention = Contention(contention)
    name = method if isinstance(method, str) else getattr(method, "__name__", "function")
    kind, function = resolve_method(method)
    check_confirmation(kind, name, confirm, confirm_time_limit)
    check_arguments(kind, function, name, time_limit, stop, threads, seed, start, parameters)
    check_contention(name, function, contention)
    check_bounds(bounds or (), contention)
    takes_run = kind in KINDS_WITH_RUN
    cores = (threads or available_cores()) if takes_run else 1
    parameters = {key: value.item() if isinstance(value, np.generic) else value for key, value in parameters.items()}
    with Interrupt() as interrupt:
        first: tuple[str, ...] | None = START_BOUNDS if takes_run else None
        if takes_run and contention is Contention.NIC:
            first = (*START_BOUNDS, "nic-aware-path")
        known = list(bounds or ())
        if bounds is None:
            known = list(lower_bound(instance, objective=objective, methods=first, contention=contention))
        watch = Stopwatch()
        recorder = Recorder(callback or Callback(), watch)
        recorder.on_start()
        if takes_run:
            best = best_bound(known)
            run = ExactRun(
                start=_warm_start(instance, objective, start, contention),
                lower_bound=0 if best is None else best.value,
                time_limit=time_limit,
                threads=cores,
                seed=seed,
                watch=watch,
                report=recorder.report,
                should_stop=lambda: interrupt.heard or recorder.wants_stop,
            )
            _report_start(instance, objective, run)
            rule = {"contention": contention} if knows_contention(function) else {}
            outcome: Outcome[DagSchedule] = function(instance, objective, run, **rule, **parameters)
        else:
            outcome = run_heuristic(
                instance,
                objective,
                contention,
                function,
                kind,
                time_limit,
                stop,
                seed,
                watch,
                recorder,
                interrupt,
                parameters,
            )
    runtime_seconds = watch.seconds
    value = _verified_objective(instance, objective, outcome.schedule, contention)
    recorder.report(value, outcome.lower_bound)
    recorder.on_end(recorder.progress)
    if takes_run and not outcome.is_infeasible:
        if bounds is None and value not in (outcome.lower_bound, run.lower_bound) and not interrupt.heard:
            known = list(lower_bound(instance, objective=objective, contention=contention))
        known = with_proof(name, objective, contention, outcome, value, run, runtime_seconds, known)
    check_against_bounds(instance, outcome.schedule, value, known, name, seed, contention)
    bound, confirmation = None if outcome.is_infeasible else best_bound(known), None
    if confirm:
        with Interrupt() as second_interrupt:
            second_run = confirmation_run(
                time_limit=confirm_time_limit or time_limit or CONFIRM_SECONDS,
                threads=cores,
                seed=int(seed),
                should_stop=lambda: interrupt.heard or second_interrupt.heard or recorder.wants_stop,
            )
            bound, confirmation = confirm_outcome(
                instance, objective, outcome, bound, method=name, run=second_run, contention=contention
            )
    return Result(
        instance=instance,
        method=name,
        objective_name=objective,
        schedule=outcome.schedule,
        bound=bound,
        is_infeasible=outcome.is_infeasible,
        termination=outcome.termination,
        runtime_seconds=runtime_seconds,
        backend_seconds=outcome.backend_seconds if takes_run else None,
        trace=tuple(recorder.trace),
        parameters=parameters,
        seed=int(seed),
        threads=int(cores),
        confirmation=confirmation,
        contention=contention,
    )


def _warm_start(
    instance: DagInstance, objective: Objective, start: DagSchedule | JobsSchedule | None, contention: Contention
) -> DagSchedule | None:
    """Return the best of the given schedule and the list schedules."""
    if start is not None and not isinstance(start, DagSchedule):
        raise TypeError(f"start: expected a DagSchedule, got a {type(start).__name__}.")
    candidates = [] if start is None else [start]
    if start is not None and (violations := verify_dag_schedule(instance, start, contention)):
        raise ValueError(f"start: expected a schedule that verifies, got {len(violations)} violations. {violations[0]}")
    for name in WARM_START_METHODS:
        schedule = method_named(name).resolve()(instance, contention=contention)
        if schedule is not None:
            candidates.append(schedule)
    return min(candidates, key=lambda schedule: objective_value(instance, schedule, objective), default=None)


def _report_start(instance: DagInstance, objective: Objective, run: ExactRun) -> None:
    """Begin the trace with what is known before the run."""
    known = None if run.start is None else objective_value(instance, run.start, objective)
    run.report(known, run.lower_bound)


def _verified_objective(
    instance: DagInstance, objective: Objective, schedule: DagSchedule | None, contention: Contention
) -> int | None:
    """Return the objective of a schedule that verifies; another one is refused by the result."""
    if schedule is None or verify_dag_schedule(instance, schedule, contention):
        return None
    return objective_value(instance, schedule, objective)


DEFAULT_EVALUATIONS = 2000
"""Budget of a search that was given neither a stop criterion nor a time limit."""


def run_heuristic(
    instance: DagInstance,
    objective: Objective,
    contention: Contention,
    function: Callable[..., Any],
    kind: Kind,
    time_limit: float | None,
    stop: StopCriterion | None,
    seed: int,
    watch: Stopwatch,
    recorder: Recorder,
    interrupt: Interrupt,
    parameters: dict[str, Any],
) -> Outcome:
    """Call a heuristic with whatever its signature names."""
    budgets: list[StopCriterion] = [] if stop is None else [stop]
    if time_limit is not None:
        budgets.append(MaxSeconds(time_limit))
    if not budgets:
        budgets.append(MaxEvaluations(DEFAULT_EVALUATIONS))
    offered = {
        "objective": objective,
        "rng": np.random.default_rng(seed),
        "stop": AnyOf([interrupt, *budgets]),
        "callback": recorder,
        "contention": contention,
    }
    wanted = inspect.signature(function).parameters
    schedule = function(instance, **{key: value for key, value in offered.items() if key in wanted}, **parameters)
    if schedule is not None and not isinstance(schedule, DagSchedule):
        raise TypeError(f"method: expected a DagSchedule or None from the function, got {type(schedule).__name__}.")
    termination = Termination.FINISHED
    if interrupt.heard or recorder.wants_stop:
        termination = Termination.INTERRUPTED
    elif kind == "search":
        termination = _why(budgets, replace(recorder.progress, seconds=watch.seconds))
    return Outcome(schedule=schedule, lower_bound=None, termination=termination)


def _why(budgets: Sequence[StopCriterion], progress: Progress) -> Termination:
    """Say which budget ended a search."""
    for budget in budgets:
        if isinstance(budget, AnyOf):
            found = _why(budget.criteria, progress)
            if found is not Termination.FINISHED:
                return found
        elif isinstance(budget, MaxEvaluations) and budget(progress):
            return Termination.EVALUATIONS
        elif isinstance(budget, MaxSeconds) and budget(progress):
            return Termination.TIME_LIMIT
    return Termination.FINISHED
