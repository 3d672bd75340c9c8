"""The one way to run anything on a jobs instance."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.search.clock import Stopwatch
from heuristics.search.progress import Callback
from instances.dag.contention import Contention
from instances.jobs.objective import JobsObjective, jobs_objective_value
from instances.jobs.schedule import JobsSchedule
from instances.jobs.verify import verify_jobs_schedule
from solvers.check_arguments import check_arguments, refuse_interference
from solvers.lower_bound import lower_bound_jobs
from solvers.methods import KINDS_WITH_RUN, jobs_method_named, resolve_jobs_method
from solvers.result import JobsResult
from solvers.run.bound import best_bound, check_against_bounds, with_proof
from solvers.run.exact_run import ExactRun, Interrupt
from solvers.run.outcome import Outcome, Termination
from solvers.run.recorder import Recorder
from solvers.run.versions import available_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from heuristics.search.progress import Progress
    from instances.jobs.instance import JobsInstance
    from solvers.run.bound import Bound


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
            outcome = run_online_method(instance, objective, function, run, recorder, parameters)
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


def run_online_method(
    instance: JobsInstance,
    objective: JobsObjective,
    function: Callable[..., Any],
    run: ExactRun[JobsSchedule],
    recorder: Recorder,
    parameters: Mapping[str, Any],
) -> Outcome[JobsSchedule]:
    """Call a policy with whatever its signature names.

    A replay that was told to stop has placed some jobs only: it has no schedule.

    Raises
    ------
    TypeError
        If it returned something else than a schedule or None.
    """
    offered = {
        "objective": objective,
        "rng": np.random.default_rng(run.seed),
        "callback": PolicyCallback(recorder, run),
    }
    wanted = inspect.signature(function).parameters
    schedule = function(instance, **{key: value for key, value in offered.items() if key in wanted}, **parameters)
    if schedule is not None and not isinstance(schedule, JobsSchedule):
        raise TypeError(f"method: expected a JobsSchedule or None from the function, got {type(schedule).__name__}.")
    termination = Termination.FINISHED
    if schedule is None:
        is_out_of_time = run.seconds_left() == 0.0 and not run.should_stop()
        termination = Termination.TIME_LIMIT if is_out_of_time else Termination.INTERRUPTED
    return Outcome(schedule=schedule, lower_bound=None, termination=termination)


class PolicyCallback(Callback):
    """What a policy reports to, and what tells it to stop: the user's callback, Ctrl-C, or the time limit."""

    def __init__(self, recorder: Recorder, run: ExactRun[JobsSchedule]) -> None:
        self._recorder = recorder
        self._run = run

    @property
    def wants_stop(self) -> bool:  # type: ignore[override]  # a view of what may stop a run
        """Whether the replay should end now."""
        return self._run.should_stop() or self._run.seconds_left() == 0.0

    def on_evaluation(self, progress: Progress) -> None:
        """Pass on."""
        self._recorder.on_evaluation(progress)

    def on_round(self, row: Mapping[str, float | None]) -> None:
        """Pass on."""
        self._recorder.on_round(row)


def solve_jobs_as_asked(
    instance: JobsInstance,
    method: str | Callable[..., Any],
    *,
    for_dags: Mapping[str, object],
    objective: object,
    parameters: Mapping[str, Any],
    **options: Any,
) -> JobsResult:
    """Run `solve_jobs` with the arguments of `solve`.

    Parameters
    ----------
    instance, method, options
        As there.
    for_dags
        Arguments that mean nothing for jobs, by name; None where one was not given.
    objective
        None for the default.
    parameters
        Of the method.

    Raises
    ------
    ValueError
        If an argument for DAGs was given, and as `solve_jobs`.
    """
    for name, value in for_dags.items():
        if value is not None:
            raise ValueError(f"{name}: expected none for a jobs instance, got {value!r}.")
    wanted: Any = JobsObjective.TOTAL_COMPLETION if objective is None else objective
    return solve_jobs(instance, method, objective=wanted, **options, **parameters)
