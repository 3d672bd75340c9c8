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
from instances.contention import Contention
from instances.dag_schedule import DagSchedule
from instances.objective import Objective, objective_value
from instances.verify_dag_schedule import verify_dag_schedule
from solvers.bound import Bound
from solvers.check_contention import check_contention, knows_contention
from solvers.confirm import CONFIRM_SECONDS, check_confirm_time_limit, confirm_outcome, confirmation_run
from solvers.contradiction import raise_contradiction
from solvers.exact_run import ExactRun
from solvers.interrupt import Interrupt
from solvers.lower_bound import best_bound, lower_bound
from solvers.methods import KINDS_WITH_RUN, WARM_START_METHODS, Kind, method_named
from solvers.outcome import Outcome
from solvers.recorder import Recorder
from solvers.result import Result
from solvers.status import Termination
from solvers.versions import available_cores, hardware

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heuristics.progress import Progress
    from heuristics.stop.stop_criterion import StopCriterion
    from instances.dag_instance import DagInstance

DEFAULT_EVALUATIONS = 2000
"""Budget of a search that was given neither a stop criterion nor a time limit."""


START_BOUNDS = ("join-aware-path", "area", "mean-busy-time")
"""Where exact and improving methods begin: the best bounds that cost next to nothing; the others follow if need be."""

MAX_THREADS = 1024
"""More threads than any back end can use."""


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
    confirm: bool = False,
    confirm_time_limit: float | None = None,
    contention: Contention | str = Contention.NONE,
    **parameters: Any,
) -> Result:
    """Run one method on one instance; verify, bound and time it.

    Parameters
    ----------
    instance
        What is scheduled.
    method
        Name of a registered method, or a function of your own: it takes the instance and whichever of `objective`,
        `rng`, `stop`, `callback` and `contention` its signature names, and returns a schedule or None.
    objective
        What is minimised.
    time_limit
        Seconds for the method; None lets an exact method run until it has a proof, and others to the end of their
        default budgets. Constructions, which build one schedule, do not need it.
    stop
        Budget of a search; by default `DEFAULT_EVALUATIONS` evaluations, or the time limit where one is given.
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
        instance, any schedule), as `solvers.confirm` says. For exact methods.
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
    objective, contention = Objective(objective), Contention(contention)
    name = method if isinstance(method, str) else getattr(method, "__name__", "function")
    kind, function = _resolve(method)
    _check_confirmation(kind, name, confirm, confirm_time_limit)
    _check_arguments(kind, function, name, time_limit, stop, threads, seed, start, parameters)
    check_contention(name, function, contention)
    _check_bounds(bounds or (), contention)
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
            outcome: Outcome = function(instance, objective, run, **rule, **parameters)
        else:
            outcome = _run_heuristic(
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
        known = _with_proof(name, objective, contention, outcome, value, run, runtime_seconds, known)
    _check_against_bounds(instance, outcome.schedule, value, known, name, seed, contention)
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
    start: DagSchedule | None,
    parameters: dict[str, Any],
) -> None:
    """Refuse what would be ignored or fail later."""
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit: expected a positive number of seconds, got {time_limit}.")
    if threads is not None and not (isinstance(threads, int | np.integer) and 1 <= threads <= MAX_THREADS):
        raise ValueError(f"threads: expected an integer in 1..{MAX_THREADS}, got {threads!r}.")
    if start is not None and kind not in KINDS_WITH_RUN:
        raise ValueError(f"start: expected none for {name}, which begins with nothing.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed: expected an integer of at least 0, got {seed!r}.")
    if stop is not None and kind != "search":
        raise ValueError(f"stop: expected none for {name}, which is no search; use time_limit.")
    ours = ("instance", "objective", "rng", "stop", "callback", "run", "contention")
    signature = inspect.signature(function).parameters
    bound_already = [key for key in getattr(function, "keywords", {}) if key in ours]
    if bound_already:
        raise ValueError(f"{bound_already[0]}: expected to be left to solve, got a function that binds it already.")
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.values()):
        return  # the function takes what it likes
    accepted = [key for key in signature if key not in ours]
    for given in parameters:
        if given not in accepted:
            raise ValueError(f"{given}: expected a parameter of {name} ({', '.join(accepted) or 'it has none'}).")


def _check_bounds(bounds: Sequence[Bound], contention: Contention) -> None:
    """Refuse bounds that hold under contention only, where there is none."""
    for bound in bounds:
        if bound.contention not in (Contention.NONE, contention):
            found = f"one of {bound.method} that rests on contention {bound.contention}"
            raise ValueError(f"bounds: expected those that hold without contention, got {found}.")


def _check_confirmation(kind: Kind, name: str, confirm: bool, time_limit: float | None) -> None:
    """Refuse to confirm what proves nothing, and time for nothing."""
    if confirm and kind != "exact":
        raise ValueError(f"confirm: expected none for {name}, which is no exact method and proves no bound.")
    check_confirm_time_limit(confirm, time_limit)


def _warm_start(
    instance: DagInstance, objective: Objective, start: DagSchedule | None, contention: Contention
) -> DagSchedule | None:
    """Return the best of the given schedule and the list schedules."""
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


def _run_heuristic(
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


def _verified_objective(
    instance: DagInstance, objective: Objective, schedule: DagSchedule | None, contention: Contention
) -> int | None:
    """Return the objective of a schedule that verifies; another one is refused by the result."""
    if schedule is None or verify_dag_schedule(instance, schedule, contention):
        return None
    return objective_value(instance, schedule, objective)


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


def _with_proof(
    name: str,
    objective: Objective,
    contention: Contention,
    outcome: Outcome,
    value: int | None,
    run: ExactRun,
    runtime_seconds: float,
    known: Sequence[Bound],
) -> list[Bound]:
    """Add the bound of a method, unless it proved none, or one that is known is as good: then that one is the proof."""
    bounds, best = list(known), best_bound(known)
    if outcome.lower_bound is not None and (best is None or outcome.lower_bound > best.value):
        best = Bound(
            value=outcome.lower_bound,
            method=name,
            proof="search to the end" if value == outcome.lower_bound else "search, not finished",
            seconds=runtime_seconds,
            solver=outcome.solver,
            confirmed_by=outcome.confirmed_by,
            objective_name=str(objective),
            threads=run.threads,
            seed=run.seed,
            hardware=hardware(),
            contention=contention,
        )
        bounds.append(best)
    if best is not None and best.value == value:
        bounds.append(replace(best, is_optimum=True))
    return bounds


def _check_against_bounds(
    instance: DagInstance,
    schedule: DagSchedule | None,
    value: int | None,
    known: Sequence[Bound],
    name: str,
    seed: int,
    contention: Contention,
) -> None:
    """Raise if a verified schedule is below a proven bound."""
    for bound in known:
        if value is not None and bound.value > value:
            raise_contradiction(
                instance,
                f"The bound {bound.value} of {bound.method} exceeds the objective {value} of a verified schedule.",
                schedule=schedule,
                claims={bound.method: f"a bound of {bound.value}", name: f"a schedule of {value}"},
                evidence={
                    "bound": bound.to_dict(),
                    "objective": value,
                    "method": name,
                    "seed": seed,
                    "contention": str(contention),
                },
            )
