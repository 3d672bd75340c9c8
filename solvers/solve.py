"""The one way to run anything."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.callback import Callback
from heuristics.stop.any_of import AnyOf
from heuristics.stop.max_evaluations import MaxEvaluations
from heuristics.stop.max_seconds import MaxSeconds
from heuristics.stopwatch import Stopwatch
from instances.objective import Objective, objective_value
from instances.verify_dag_schedule import verify_dag_schedule
from solvers.bound import Bound
from solvers.contradiction import raise_contradiction
from solvers.exact_run import ExactRun
from solvers.interrupt import Interrupt
from solvers.lower_bound import best_bound, lower_bound
from solvers.methods import WARM_START_METHODS, Kind, method_named
from solvers.outcome import Outcome
from solvers.recorder import Recorder
from solvers.result import Result
from solvers.status import Termination
from solvers.versions import available_cores, version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heuristics.stop.stop_criterion import StopCriterion
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule

DEFAULT_EVALUATIONS = 2000
"""Budget of a search that was given neither a stop criterion nor a time limit."""


def solve(
    instance: DagInstance,
    method: str | Callable[..., DagSchedule | None] = "cp-sat",
    *,
    objective: Objective | str = Objective.MAKESPAN,
    time_limit: float | None = None,
    stop: StopCriterion | None = None,
    threads: int | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    bounds: Sequence[Bound] | None = None,
    start: DagSchedule | None = None,
    **parameters: Any,
) -> Result:
    """Run one method on one instance; verify, bound and time it.

    Parameters
    ----------
    instance
        What is scheduled.
    method
        Name of a registered method, or a function of your own: it takes the instance and whichever of `objective`,
        `rng`, `stop` and `callback` its signature names, and returns a schedule or None.
    objective
        What is minimised.
    time_limit
        Seconds for the method; None lets an exact method run until it has a proof.
    stop
        Budget of a search; by default `DEFAULT_EVALUATIONS` evaluations, or the time limit where one is given.
    threads
        Of exact methods; by default all cores. Heuristics use one.
    seed
        Of everything random, at least 0.
    callback
        Watches the run and may stop it.
    bounds
        Bounds that are known already; by default those without search are computed.
    start
        A schedule for exact methods to begin with, beside the best list schedule.
    parameters
        Of the method.

    Returns
    -------
    Result
        With the best schedule found, or none; time limits and Ctrl-C are no errors.

    Raises
    ------
    ValueError
        If an argument is out of range, or the method has no such parameter.
    ContradictionError
        If a proven bound exceeds a verified objective; a reproducer file is left.
    UnverifiedScheduleError
        If the method returned a schedule that violates a constraint.
    """
    objective = Objective(objective)
    name = method if isinstance(method, str) else getattr(method, "__name__", "function")
    kind, function = _resolve(method)
    _check_arguments(kind, function, name, time_limit, stop, threads, seed, parameters)
    known = lower_bound(instance, objective=objective) if bounds is None else list(bounds)
    cores = (threads or available_cores()) if kind == "exact" else 1
    watch = Stopwatch()
    recorder = Recorder(callback or Callback(), watch)
    with Interrupt() as interrupt:
        recorder.on_start()
        if kind == "exact":
            best = best_bound(known)
            run = ExactRun(
                start=_warm_start(instance, objective, start),
                lower_bound=0 if best is None else best.value,
                time_limit=time_limit,
                threads=cores,
                seed=seed,
                watch=watch,
                report=recorder.report,
                should_stop=lambda: interrupt.heard or recorder.wants_stop,
            )
            _report_start(instance, objective, run)
            outcome: Outcome = function(instance, objective, run, **parameters)
        else:
            outcome = _run_heuristic(
                instance, objective, function, kind, time_limit, stop, seed, recorder, interrupt, parameters
            )
    runtime_seconds = watch.seconds
    recorder.on_end(recorder.progress)
    if kind == "exact" and not outcome.is_infeasible:
        known = _with_proof(instance, objective, name, outcome, runtime_seconds, known)
    _check_against_bounds(instance, objective, outcome, known, name, seed)
    return Result(
        instance=instance,
        method=name,
        objective_name=objective,
        schedule=outcome.schedule,
        bound=None if outcome.is_infeasible else best_bound(known),
        is_infeasible=outcome.is_infeasible,
        termination=outcome.termination,
        runtime_seconds=runtime_seconds,
        backend_seconds=outcome.backend_seconds if kind == "exact" else None,
        trace=tuple(recorder.trace),
        parameters=parameters,
        seed=seed,
        threads=cores,
    )


def kind_of(method: str | Callable[..., Any]) -> Kind:
    """Return what a method is: a function that takes `stop` is a search, any other function a construction.

    Raises
    ------
    ValueError
        If no method of that name is registered.
    """
    return _resolve(method)[0]


def _resolve(method: str | Callable[..., Any]) -> tuple[Kind, Callable[..., Any]]:
    """Return kind and function of a method."""
    if isinstance(method, str):
        registered = method_named(method)
        return registered.kind, registered.resolve()
    if not callable(method):
        raise TypeError(f"method: expected a name or a function, got {method!r}.")
    return ("search" if "stop" in inspect.signature(method).parameters else "construction"), method


def _check_arguments(
    kind: Kind,
    function: Callable[..., Any],
    name: str,
    time_limit: float | None,
    stop: StopCriterion | None,
    threads: int | None,
    seed: int,
    parameters: dict[str, Any],
) -> None:
    """Refuse what would be ignored or fail later."""
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit: expected a positive number of seconds, got {time_limit}.")
    if threads is not None and threads < 1:
        raise ValueError(f"threads: expected at least 1, got {threads}.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed: expected an integer of at least 0, got {seed!r}.")
    if stop is not None and kind != "search":
        raise ValueError(f"stop: expected none for {name}, which is no search; use time_limit.")
    ours = ("instance", "objective", "rng", "stop", "callback", "run")
    accepted = [name for name in inspect.signature(function).parameters if name not in ours]
    for given in parameters:
        if given not in accepted:
            raise ValueError(f"{given}: expected a parameter of {name} ({', '.join(accepted) or 'it has none'}).")


def _warm_start(instance: DagInstance, objective: Objective, start: DagSchedule | None) -> DagSchedule | None:
    """Return the best of the given schedule and the list schedules."""
    candidates = [] if start is None else [start]
    if start is not None and (violations := verify_dag_schedule(instance, start)):
        raise ValueError(f"start: expected a schedule that verifies, got {len(violations)} violations. {violations[0]}")
    for name in WARM_START_METHODS:
        schedule = method_named(name).resolve()(instance)
        if schedule is not None:
            candidates.append(schedule)
    return min(candidates, key=lambda schedule: objective_value(instance, schedule, objective), default=None)


def _report_start(instance: DagInstance, objective: Objective, run: ExactRun) -> None:
    """Begin the trace with what is known before the run."""
    known = None if run.start is None else objective_value(instance, run.start, objective)
    run.report(known, run.lower_bound)


def _run_heuristic(
    instance: DagInstance,
    objective: Objective,
    function: Callable[..., Any],
    kind: Kind,
    time_limit: float | None,
    stop: StopCriterion | None,
    seed: int,
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
    }
    wanted = inspect.signature(function).parameters
    schedule = function(instance, **{key: value for key, value in offered.items() if key in wanted}, **parameters)
    termination = Termination.FINISHED
    if interrupt.heard or recorder.wants_stop:
        termination = Termination.INTERRUPTED
    elif kind == "search":
        termination = _why(budgets, recorder)
    elif schedule is not None and not verify_dag_schedule(instance, schedule):
        recorder.report(objective_value(instance, schedule, objective), None)
    return Outcome(schedule=schedule, lower_bound=None, termination=termination)


def _why(budgets: Sequence[StopCriterion], recorder: Recorder) -> Termination:
    """Say which budget ended a search."""
    for budget in budgets:
        if isinstance(budget, AnyOf):
            found = _why(budget.criteria, recorder)
            if found is not Termination.FINISHED:
                return found
        elif isinstance(budget, MaxEvaluations) and budget(recorder.progress):
            return Termination.EVALUATIONS
        elif isinstance(budget, MaxSeconds) and budget(recorder.progress):
            return Termination.TIME_LIMIT
    return Termination.FINISHED


def _with_proof(
    instance: DagInstance,
    objective: Objective,
    name: str,
    outcome: Outcome,
    runtime_seconds: float,
    known: Sequence[Bound],
) -> list[Bound]:
    """Add the bound of an exact method, unless one from before the run is as good: then that one is the proof."""
    bounds, best = list(known), best_bound(known)
    if outcome.lower_bound is not None and (best is None or outcome.lower_bound > best.value):
        best = Bound(
            value=outcome.lower_bound,
            method=name,
            proof="search, not finished",
            seconds=runtime_seconds,
            solver=f"ortools {version_of('ortools')}",
        )
        bounds.append(best)
    if best is None or outcome.schedule is None:
        return bounds
    if objective_value(instance, outcome.schedule, objective) == best.value:
        proof = "search to the end" if best.method == name else best.proof
        bounds.append(replace(best, proof=proof, is_optimum=True))
    return bounds


def _check_against_bounds(
    instance: DagInstance, objective: Objective, outcome: Outcome, known: Sequence[Bound], name: str, seed: int
) -> None:
    """Raise if a verified schedule is below a proven bound."""
    if outcome.schedule is None or verify_dag_schedule(instance, outcome.schedule):
        return  # without a schedule nothing contradicts; one that does not verify is refused by the result
    value = objective_value(instance, outcome.schedule, objective)
    for bound in known:
        if bound.value > value:
            raise_contradiction(
                instance,
                f"The bound {bound.value} of {bound.method} exceeds the objective {value} of a verified schedule.",
                schedule=outcome.schedule,
                evidence={"bound": bound.to_dict(), "objective": value, "method": name, "seed": seed},
            )
