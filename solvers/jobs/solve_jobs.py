"""The one way to run anything on a jobs instance."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.callback import Callback
from heuristics.stopwatch import Stopwatch
from instances.contention import Contention
from instances.jobs.jobs_objective import JobsObjective, jobs_objective_value
from instances.jobs.verify_jobs_schedule import verify_jobs_schedule
from solvers.bound import best_bound
from solvers.check_arguments import check_arguments
from solvers.exact_run import ExactRun
from solvers.interrupt import Interrupt
from solvers.jobs.jobs_methods import jobs_method_named
from solvers.jobs.jobs_result import JobsResult
from solvers.jobs.lower_bound_jobs import lower_bound_jobs
from solvers.jobs.refuse_interference import refuse_interference
from solvers.jobs.run_policy import run_policy
from solvers.methods import KINDS_WITH_RUN
from solvers.proven_bounds import check_against_bounds, with_proof
from solvers.recorder import Recorder
from solvers.versions import available_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_schedule import JobsSchedule
    from solvers.bound import Bound
    from solvers.methods import Kind
    from solvers.outcome import Outcome

WARM_START_POLICIES = ("wcs-duration", "srtf", "a-srpt")
"""Policies whose best schedule is where exact methods start; with an oracle as predictor."""


def solve_jobs(
    instance: JobsInstance,
    method: str | Callable[..., JobsSchedule | None] = "cp-sat",
    *,
    objective: JobsObjective | str = JobsObjective.TOTAL_COMPLETION,
    time_limit: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    bounds: Sequence[Bound] | None = None,
    start: JobsSchedule | None = None,
    **parameters: Any,
) -> JobsResult:
    """Run one method on one jobs instance; verify, bound and time it.

    Parameters
    ----------
    instance
        What is scheduled.
    method
        Name of a registered method (`JOBS_METHODS`), or a function of your own: it takes the instance and whichever of
        `objective`, `rng` and `callback` its signature names, and returns a schedule or None.
    objective
        What is minimised.
    time_limit
        Seconds for the method; None lets an exact method run until it has a proof. A policy that is not done with its
        replay by then has no schedule.
    threads
        Of exact methods; by default all cores. Policies use one.
    seed
        Of everything random, at least 0.
    callback
        Watches the run and may stop it.
    bounds
        Bounds that are known already; by default those without search are computed.
    start
        A schedule for exact methods to begin with, beside the best of some policies.
    parameters
        Of the method, such as ``predictor`` and ``placement`` of a policy.

    Returns
    -------
    JobsResult
        With the best schedule found, or none; time limits and Ctrl-C are no errors.

    Raises
    ------
    ValueError
        If an argument is out of range, the method has no such parameter, or it is exact and does not know the
        interference of the instance.
    ContradictionError
        If a proven bound exceeds the objective of a verified schedule; a reproducer file is left.
    UnverifiedScheduleError
        If the method returned a schedule that violates a constraint.
    """
    objective = JobsObjective(objective)
    name = method if isinstance(method, str) else getattr(method, "__name__", "function")
    kind, function = resolve_jobs_method(method)
    check_arguments(kind, function, name, time_limit, None, threads, seed, start, parameters)
    if start is not None and (violations := verify_jobs_schedule(instance, start)):
        raise ValueError(f"start: expected a schedule that verifies, got {len(violations)} violations. {violations[0]}")
    takes_run = kind in KINDS_WITH_RUN
    if takes_run:
        refuse_interference(instance, name)
    cores = (threads or available_cores()) if takes_run else 1
    parameters = {key: value.item() if isinstance(value, np.generic) else value for key, value in parameters.items()}
    with Interrupt() as interrupt:
        known = list(lower_bound_jobs(instance, objective=objective) if bounds is None else bounds)
        watch = Stopwatch()
        recorder = Recorder(callback or Callback(), watch)
        recorder.on_start()
        best = best_bound(known)
        run = ExactRun(
            start=_warm_start(instance, objective, start) if takes_run else None,
            lower_bound=0 if best is None else best.value,
            time_limit=time_limit,
            threads=cores,
            seed=seed,
            watch=watch,
            report=recorder.report,
            should_stop=lambda: interrupt.heard or recorder.wants_stop,
        )
        if takes_run:
            _report_start(instance, objective, run)
            outcome: Outcome[JobsSchedule] = function(instance, objective, run, **parameters)
        else:
            outcome = run_policy(instance, objective, function, run, recorder, parameters)
    runtime_seconds = watch.seconds
    value = _objective(instance, objective, outcome.schedule)
    recorder.report(value, outcome.lower_bound)
    recorder.on_end(recorder.progress)
    if takes_run:
        known = with_proof(name, objective, Contention.NONE, outcome, value, run, runtime_seconds, known)
    best = best_bound(known)
    if outcome.schedule is not None and value is not None and best is not None and best.value > value:
        # The alarm is for schedules that verify; another one is refused by the result below.
        if not verify_jobs_schedule(instance, outcome.schedule):
            check_against_bounds(instance, outcome.schedule, value, known, name, int(seed))
        best = None
    return JobsResult(
        instance=instance,
        method=name,
        objective_name=objective,
        schedule=outcome.schedule,
        bound=best,
        termination=outcome.termination,
        runtime_seconds=runtime_seconds,
        backend_seconds=outcome.backend_seconds if takes_run else None,
        trace=tuple(recorder.trace),
        parameters=parameters,
        seed=int(seed),
        threads=int(cores),
    )


def resolve_jobs_method(method: str | Callable[..., Any]) -> tuple[Kind, Callable[..., Any]]:
    """Return kind and function of a method; a function of the user's is a policy.

    Raises
    ------
    ValueError
        If no method of that name is registered for jobs.
    TypeError
        If it is neither a name nor a function.
    """
    if isinstance(method, str):
        registered = jobs_method_named(method)
        return registered.kind, registered.resolve()
    if not callable(method):
        raise TypeError(f"method: expected a name or a function, got {method!r}.")
    return "policy", method


def _warm_start(instance: JobsInstance, objective: JobsObjective, start: JobsSchedule | None) -> JobsSchedule | None:
    """Return the best of the given schedule and those of some policies that are told the iterations."""
    candidates = [] if start is None else [start]
    for name in WARM_START_POLICIES:
        function = jobs_method_named(name).resolve()
        offered = {"objective": objective, "rng": np.random.default_rng(0)}
        wanted = inspect.signature(function).parameters
        schedule = function(instance, **{key: value for key, value in offered.items() if key in wanted})
        if schedule is not None:
            candidates.append(schedule)
    return min(candidates, key=lambda schedule: jobs_objective_value(instance, schedule, objective), default=None)


def _report_start(instance: JobsInstance, objective: JobsObjective, run: ExactRun[JobsSchedule]) -> None:
    """Begin the trace with what is known before the run."""
    known = None if run.start is None else jobs_objective_value(instance, run.start, objective)
    run.report(known, run.lower_bound)


def _objective(instance: JobsInstance, objective: JobsObjective, schedule: JobsSchedule | None) -> int | None:
    """Return the objective of a schedule; one that does not even fit the formula is refused by the result."""
    if schedule is None:
        return None
    try:
        return jobs_objective_value(instance, schedule, objective)
    except (ValueError, IndexError):
        return None
