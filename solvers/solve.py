"""The one way to run any method on an instance of either problem."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.search.clock import Stopwatch
from heuristics.search.progress import Callback
from heuristics.search.stop_criteria import AnyOf, MaxEvaluations, MaxSeconds
from instances.dag.contention import Contention
from instances.dag.instance import DagInstance
from solvers.check_arguments import (
    check_arguments,
    check_bounds,
    check_confirmation,
    check_contention,
    check_contention_of_buffers,
    check_interference,
    check_options,
    check_start,
    refuse_unknown_buffers,
)
from solvers.confirm import confirm_outcome
from solvers.confirmation.claim import CONFIRM_SECONDS, confirmation_run
from solvers.lower_bound import lower_bound
from solvers.methods import KINDS_WITH_RUN, knows_contention
from solvers.problem import Goal, problem_of
from solvers.result import AlteredInstanceError, Result
from solvers.run.bound import best_bound, check_against_bounds, with_proof
from solvers.run.exact_run import ExactRun, Interrupt
from solvers.run.outcome import Outcome, Termination
from solvers.run.recorder import Recorder
from solvers.run.versions import usable_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from heuristics.search.progress import Progress
    from heuristics.search.stop_criteria import StopCriterion
    from instances.readers.optgap_json import Instance, Schedule
    from solvers.methods import Kind
    from solvers.run.bound import Bound


def solve(
    instance: Instance,
    method: str | Callable[..., Any] = "cp-sat",
    *,
    objective: str | None = None,
    time_limit: float | None = None,
    stop: StopCriterion | None = None,
    threads: int | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    bounds: Sequence[Bound] | None = None,
    start: Schedule | None = None,
    confirm: bool = False,
    confirm_time_limit: float | None = None,
    contention: Contention | str = Contention.NONE,
    **parameters: Any,
) -> Result[Any, Any]:
    """Run one method on one instance; verify, bound and time it.

    Parameters
    ----------
    method
        Name of a method that is registered for the instance's problem, or a function of your own. A function takes the
        instance and whichever of `objective`, `rng`, `stop`, `callback` and `contention` its signature names, the last
        and `stop` for DAGs only, and returns a schedule or None.
    objective
        What is minimised; by default the makespan, for jobs the total completion time.
    time_limit
        Seconds for the method. With None an exact method runs until it has a proof, and other methods until their
        default budgets end. Constructions, which build one schedule, do not need a limit. A policy that has not placed
        every job by then has no schedule. Bounds that are computed by default come on top: they take at most as long
        again, and after an exact method a twentieth of that, or a second.
    stop
        Budget of a search; by default `DEFAULT_EVALUATIONS` evaluations, or the time limit where there is one.
    threads
        Threads of exact and improving methods; by default all cores, and never more than these and `MOST_THREADS`, as
        `Result.threads` says. Other methods use one.
    seed
        Seed of everything random, at least 0.
    callback
        Watches the run and may stop it.
    bounds
        Bounds that are known already; by default the bounds without search are computed, and for a construction those
        of them that take no longer than the construction itself.
    start
        A schedule with which exact and improving methods begin, unless the best of some heuristics is better.
    confirm
        Whether a second model is asked to refute that a schedule below the proven bound exists (or any schedule, for an
        infeasible instance), as `solvers.confirmation.claim` says. For exact methods.
    confirm_time_limit
        Seconds for the confirmation, which begins after the method has ended; by default as many as `time_limit`, and
        `CONFIRM_SECONDS` where there is none. If they end without an answer, the bound stands, and the result says that
        nothing confirms it.
    contention
        What transfers share: "none", or "nic" for the network interfaces of servers, with one transfer per side at a
        time (see `Contention`). The schedule is verified with this rule; methods that do not know it are refused.
    parameters
        Parameters of the method, such as ``predictor`` and ``placement`` of a policy.

    Returns
    -------
    Result
        With the best schedule found, or none; neither time limits nor Ctrl-C raise an error.

    Raises
    ------
    ValueError
        If an argument is out of range or means nothing for this problem, the method has no such parameter, does not
        know contention or buffers or is exact and does not know interference, or a given bound rests on contention
        where there is none.
    ContradictionError
        If a proven bound exceeds a verified objective, of this method or of the second model; a reproducer file is
        left.
    UnverifiedScheduleError
        If the method returned a schedule that violates a constraint, or if a function of your own altered the instance
        (`AlteredInstanceError`): it is given a copy, and its schedule is verified against your instance.

    Examples
    --------
    >>> import optgap
    >>> instance = optgap.from_lists([[4, 5], [3, 3], [3, 8]], [(0, 1, 6), (0, 2, 2)], latency=1, bytes_per_tick=2.0)
    >>> optimum = optgap.solve(instance)
    >>> optimum.objective, optimum.lower_bound, str(optimum.status)
    (10, 10, 'optimal')
    """
    problem = problem_of(instance)
    given = {"stop": stop, "confirm": confirm, "confirm_time_limit": confirm_time_limit, "contention": contention}
    check_options(problem, given)
    goal = problem.goal(instance, objective, contention)
    objective, contention = goal.objective, goal.contention
    name = method if isinstance(method, str) else getattr(method, "__name__", "function")
    kind, function = problem.resolve_method(method)
    check_confirmation(kind, name, confirm, confirm_time_limit)
    check_arguments(kind, function, name, time_limit, stop, threads, seed, start, parameters)
    check_contention(name, function, contention)
    if isinstance(method, str):
        refuse_unknown_buffers(problem, instance, objective, name)
    check_contention_of_buffers(goal)
    check_bounds(bounds or (), contention)
    check_start(goal, start)
    takes_run = kind in KINDS_WITH_RUN
    if takes_run:
        check_interference(problem, instance, name)
    cores = usable_threads(threads) if takes_run else 1
    parameters = {key: value.item() if isinstance(value, np.generic) else value for key, value in parameters.items()}
    with Interrupt() as interrupt:
        first = problem.first_bounds(instance, objective, contention) if takes_run else None
        known = list(bounds or ())
        own: dict[str, Any] = {"objective": objective, "contention": contention}
        if time_limit is not None:
            own["time_limit"] = max(time_limit, BOUND_SECONDS)
        if bounds is None:
            names = first if takes_run else problem.bounds_beside(kind, instance, objective, contention)
            known = list(lower_bound(instance, methods=names, **own))
        watch = Stopwatch()
        recorder = Recorder(callback or Callback(), watch)
        recorder.on_start()
        best = best_bound(known)
        run = ExactRun(
            start=_warm_start(goal, start) if takes_run else None,
            lower_bound=0 if best is None else best.value,
            time_limit=time_limit,
            threads=cores,
            seed=seed,
            watch=watch,
            report=recorder.report,
            should_stop=lambda: interrupt.heard or recorder.wants_stop,
        )
        if takes_run:
            recorder.report(None if run.start is None else goal.value(run.start), run.lower_bound)
            rule = {"contention": contention} if knows_contention(function) else {}
            outcome: Outcome[Any] = function(instance, objective, run, **rule, **parameters)
        else:
            private = replace(goal, instance=instance if isinstance(method, str) else instance.private_copy())
            outcome = run_heuristic(private, kind, function, run, stop, recorder, interrupt, parameters)
            if altered := instance.differences(private.instance):
                expected = "expected the instance to stay as it was given"
                raise AlteredInstanceError(f"{name}: {expected}, got another value of {', '.join(altered)}.")
    runtime_seconds = watch.seconds
    value = goal.verified_value(outcome.schedule)
    recorder.report(value, outcome.lower_bound)
    recorder.on_end(recorder.progress)
    if takes_run and not outcome.is_infeasible:
        has_no_proof = value not in (outcome.lower_bound, run.lower_bound)
        if bounds is None and first is not None and has_no_proof and not interrupt.heard:
            if time_limit is not None and kind == "exact":  # it has used its time for a bound of its own
                own["time_limit"] = max(SHARE_OF_LAST_BOUNDS * time_limit, BOUND_SECONDS)
            known = list(lower_bound(instance, **own))
        known = with_proof(name, objective, contention, outcome, value, run, runtime_seconds, known)
    check_against_bounds(instance, outcome.schedule, value, known, name, int(seed), contention)
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
                goal.instance, goal.objective, outcome, bound, method=name, run=second_run, contention=contention
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
        failure=outcome.failure,
    )


def _warm_start(goal: Goal, start: Schedule | None) -> Schedule | None:
    """Return the best of the given schedule and those of the problem's heuristics; the first one of equals."""
    candidates = [] if start is None else [start]
    for name in goal.problem.starting_methods(goal.instance, goal.objective):
        function = goal.problem.method_named(name).resolve()
        offered = {"objective": goal.objective, "rng": np.random.default_rng(0), "contention": goal.contention}
        schedule = function(goal.instance, **_named_by(function, offered))
        if schedule is not None:
            candidates.append(schedule)
    return min(candidates, key=goal.value, default=None)


def _named_by(function: Callable[..., Any], offered: Mapping[str, Any]) -> dict[str, Any]:
    """Return the offered arguments that the signature of a function names."""
    wanted = inspect.signature(function).parameters
    return {key: value for key, value in offered.items() if key in wanted}


BOUND_SECONDS = 1.0
"""Least time for the bounds without search before a run with a time limit, and again after it."""

SHARE_OF_LAST_BOUNDS = 0.05
"""Time for these bounds after an exact run that ended without a proof, as a share of its time limit."""

DEFAULT_EVALUATIONS = 2000
"""Budget of a search that was given neither a stop criterion nor a time limit."""


def run_heuristic(
    goal: Goal,
    kind: Kind,
    function: Callable[..., Any],
    run: ExactRun,
    stop: StopCriterion | None,
    recorder: Recorder,
    interrupt: Interrupt,
    parameters: Mapping[str, Any],
) -> Outcome[Any]:
    """Call a construction, search or policy with whatever its signature names.

    A policy that was told to stop has placed some jobs only: it has no schedule. Where a method for DAGs has none, a
    search for an assignment of tasks to memory may prove that there is none (`heuristics.dag.packing`).

    Raises a `TypeError` if the function returned something other than a schedule or None.
    """
    budgets: list[StopCriterion] = [] if stop is None else [stop]
    if run.time_limit is not None:
        budgets.append(MaxSeconds(run.time_limit))
    if not budgets:
        budgets.append(MaxEvaluations(DEFAULT_EVALUATIONS))
    offered = {"objective": goal.objective, "rng": np.random.default_rng(run.seed)}
    if kind == "policy":
        offered["callback"] = PolicyCallback(recorder, run)
    else:
        offered |= {"stop": AnyOf([interrupt, *budgets]), "callback": recorder, "contention": goal.contention}
    schedule = function(goal.instance, **_named_by(function, offered), **parameters)
    expected = goal.problem.codec.schedule_type
    if schedule is not None and not isinstance(schedule, expected):
        found = type(schedule).__name__
        raise TypeError(f"method: expected a {expected.__name__} or None from the function, got {found}.")
    termination, is_infeasible = Termination.FINISHED, False
    if schedule is None and isinstance(goal.instance, DagInstance):
        from heuristics.dag.packing import pack

        is_infeasible = pack(goal.instance).is_infeasible
    if kind == "policy":
        if schedule is None:
            is_out_of_time = run.seconds_left() == 0.0 and not run.should_stop()
            termination = Termination.TIME_LIMIT if is_out_of_time else Termination.INTERRUPTED
    elif run.should_stop():
        termination = Termination.INTERRUPTED
    elif kind == "search":
        termination = _ended_by(budgets, replace(recorder.progress, seconds=run.watch.seconds))
    return Outcome(schedule=schedule, lower_bound=None, is_infeasible=is_infeasible, termination=termination)


def _ended_by(budgets: Sequence[StopCriterion], progress: Progress) -> Termination:
    """Say which budget ended a search."""
    for budget in budgets:
        if isinstance(budget, AnyOf):
            found = _ended_by(budget.criteria, progress)
            if found is not Termination.FINISHED:
                return found
        elif isinstance(budget, MaxEvaluations) and budget(progress):
            return Termination.EVALUATIONS
        elif isinstance(budget, MaxSeconds) and budget(progress):
            return Termination.TIME_LIMIT
    return Termination.FINISHED


class PolicyCallback(Callback):
    """Passes on what a policy reports, and stops it when the user wants that, on Ctrl-C and at the time limit."""

    def __init__(self, recorder: Recorder, run: ExactRun) -> None:
        self._recorder = recorder
        self._run = run

    @property
    def wants_stop(self) -> bool:  # type: ignore[override]  # a view of what may stop a run
        """Whether the replay should end now."""
        return self._run.must_stop()

    def on_evaluation(self, progress: Progress) -> None:
        """Pass on."""
        self._recorder.on_evaluation(progress)

    def on_round(self, row: Mapping[str, float | None]) -> None:
        """Pass on."""
        self._recorder.on_round(row)
