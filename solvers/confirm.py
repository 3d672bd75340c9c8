"""Confirming what was proved: a second model is asked to refute that a schedule below a bound exists."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from heuristics.stopwatch import Stopwatch
from instances.contention import Contention
from instances.objective import objective_value
from instances.verify_dag_schedule import verify_dag_schedule
from solvers.confirmation import Confirmation
from solvers.contradiction import raise_contradiction
from solvers.exact_run import ExactRun
from solvers.methods import METHODS
from solvers.second_opinion import second_model, second_opinion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from instances.objective import Objective
    from solvers.bound import Bound
    from solvers.outcome import Outcome

CONFIRM_SECONDS = 60.0
"""Time for a confirmation where neither it nor the method was given a limit."""


def confirm_outcome(
    instance: DagInstance,
    objective: Objective,
    outcome: Outcome,
    bound: Bound | None,
    *,
    method: str,
    run: ExactRun,
    contention: Contention = Contention.NONE,
) -> tuple[Bound | None, Confirmation | None]:
    """Confirm what a run of an exact method claims: its best bound, or that there is no schedule.

    Parameters
    ----------
    instance, objective, run
        As in `confirm_bound`.
    contention
        As in `solve`.
    outcome
        Of the method.
    bound
        The best one known, None where there is none.
    method
        Name of the method.

    Returns
    -------
    tuple
        The bound, with what confirms it, and what was asked; None where there is nothing to confirm.

    Raises
    ------
    ContradictionError
        If the second model finds a schedule that verifies where there should be none.
    """
    if outcome.is_infeasible:
        if outcome.confirmed_by is not None:
            return bound, _already("no schedule at all", outcome.confirmed_by)
        solver, first = outcome.solver, f"{method} ({outcome.solver or 'no solver'})"
        by_search = solver is not None
        return bound, _confirm(instance, objective, None, None, first, solver, by_search, run, contention)
    if bound is None:
        return None, None
    return confirm_bound(instance, objective, bound, schedule=outcome.schedule, run=run)


def confirm_bound(
    instance: DagInstance,
    objective: Objective,
    bound: Bound,
    *,
    schedule: DagSchedule | None,
    run: ExactRun,
) -> tuple[Bound, Confirmation]:
    """Ask a second model to refute that a schedule below a bound exists.

    A bound that CP-SAT proves is asked of the disjunctive MILP in HiGHS, any other one of CP-SAT; `second_opinion` says
    what they share. A bound that rests on contention may be asked of a model without it: what has no schedule there has
    none with it.

    Parameters
    ----------
    instance, objective
        What is scheduled and minimised.
    bound
        Claimed; one that is confirmed already is not asked again.
    schedule
        The verified schedule of the method that proves the bound, None without one; for the reproducer.
    run
        Time limit, threads and seed of the second model.

    Returns
    -------
    tuple[Bound, Confirmation]
        The bound, with what confirms it, and what was asked.

    Raises
    ------
    ContradictionError
        If the second model finds a schedule below the bound that verifies; a reproducer file is left.
    """
    if bound.confirmed_by is not None:
        return bound, _already(_claim(objective, bound.value), bound.confirmed_by)
    first = f"{bound.method} ({bound.solver or 'no solver'})"
    by_search = _is_exact(bound) and bound.solver is not None
    confirmation = _confirm(instance, objective, bound, schedule, first, bound.solver, by_search, run, bound.contention)
    return replace(bound, confirmed_by=confirmation.confirmed_by), confirmation


def confirm_bounds(
    instance: DagInstance,
    objective: Objective,
    bounds: Sequence[Bound],
    *,
    run: ExactRun,
) -> tuple[list[Bound], list[Confirmation]]:
    """Confirm the bounds that no exact method proved, with as few questions as possible.

    What refutes a schedule below one of them refutes one below all smaller ones: the largest is asked first, and the
    next smaller value only where that was not reached.

    Parameters
    ----------
    instance, objective
        As in `confirm_bound`.
    bounds
        In any order.
    run
        Threads, seed, and the time limit of each question.

    Returns
    -------
    tuple[list[Bound], list[Confirmation]]
        The bounds in their order, and what was asked.

    Raises
    ------
    ContradictionError
        If a second model finds a schedule below a bound; a reproducer file is left.
    """
    done, asked = list(bounds), list[Confirmation]()
    confirmed_by: dict[tuple[str, Contention], str] = {}  # what refuted a larger or equal value, by second model, rule
    not_reached: set[tuple[str, Contention, int]] = set()
    for place in sorted(range(len(done)), key=lambda place: -done[place].value):
        bound = done[place]
        key = (second_model(bound.solver).name, bound.contention)
        if bound.confirmed_by is not None:  # of an exact method; not where windows were shared: the names then differ
            confirmed_by.setdefault((bound.confirmed_by, bound.contention), bound.confirmed_by)
        if _is_exact(bound) or bound.confirmed_by is not None or (*key, bound.value) in not_reached:
            continue
        if key not in confirmed_by:
            own_run = replace(run, watch=Stopwatch())
            done[place], confirmation = confirm_bound(instance, objective, bound, schedule=None, run=own_run)
            asked.append(confirmation)
            if confirmation.confirmed_by is None:
                not_reached.add((*key, bound.value))
                continue
            confirmed_by[key] = confirmation.confirmed_by
        done[place] = replace(bound, confirmed_by=confirmed_by[key])
    return done, asked


def check_confirm_time_limit(confirm: bool, time_limit: float | None) -> None:
    """Refuse a time limit of 0 or less, and one for what is not asked for.

    Raises
    ------
    ValueError
        If it is one of these.
    """
    if time_limit is not None and not (confirm and time_limit > 0):
        expected = "a positive number of seconds" if confirm else "none without confirm"
        raise ValueError(f"confirm_time_limit: expected {expected}, got {time_limit}.")


def confirmation_run(
    *, time_limit: float | None, threads: int, seed: int, should_stop: Callable[[], bool] = lambda: False
) -> ExactRun:
    """Return limits for a second model; it is told nothing of what the first one found."""
    return ExactRun(
        start=None,
        lower_bound=0,
        time_limit=None if time_limit is None or math.isinf(time_limit) else time_limit,
        threads=threads,
        seed=seed,
        watch=Stopwatch(),
        report=lambda objective, bound: None,
        should_stop=should_stop,
    )


def _confirm(
    instance: DagInstance,
    objective: Objective,
    bound: Bound | None,
    schedule: DagSchedule | None,
    first: str,
    solver: str | None,
    by_search: bool,
    run: ExactRun,
    contention: Contention,
) -> Confirmation:
    """Ask, and raise where the answer is a schedule that should not exist; `first` is who claims."""
    watch, second = Stopwatch(), second_model(solver)
    value = None if bound is None else bound.value
    claim = "no schedule at all" if value is None else _claim(objective, value)
    opinion = second_opinion(
        second, instance, objective, value, run, own_windows_only=not by_search, contention=contention
    )
    reason = opinion.reason
    if opinion.schedule is not None:
        found = None
        if not verify_dag_schedule(instance, opinion.schedule, contention):  # a second model may err too
            found = objective_value(instance, opinion.schedule, objective)
        if found is not None and (value is None or found < value):
            answer = f"a schedule with {_words(objective)} {found}"
            raise_contradiction(
                instance,
                f"{first} claims: {claim}. {second.name} finds {answer}.",
                schedule=opinion.schedule,
                other_schedule=schedule,
                claims={first: claim, second.name: answer},
                evidence={
                    "bound": None if bound is None else bound.to_dict(),
                    "objective_name": str(objective),
                    "objective": found,
                    "contention": str(contention),
                    "threads": run.threads,
                    "seed": run.seed,
                    "confirm_time_limit": run.time_limit,
                },
            )
        reason = "what it found is no such schedule"
    return Confirmation(
        claim=claim,
        asked=second.name,
        confirmed_by=opinion.confirmed_by,
        reason=reason,
        seconds=watch.seconds,
        time_limit=run.time_limit,
    )


def _already(claim: str, confirmed_by: str) -> Confirmation:
    """Return that a claim was confirmed by the method itself."""
    return Confirmation(claim=claim, asked=confirmed_by, confirmed_by=confirmed_by)


def _is_exact(bound: Bound) -> bool:
    """Say whether an exact method stands behind a bound."""
    return bound.method in METHODS and METHODS[bound.method].kind == "exact"


def _claim(objective: Objective, value: int) -> str:
    """Say what a bound claims."""
    return f"no {_words(objective)} below {value}"


def _words(objective: Objective) -> str:
    """Name an objective."""
    return str(objective).replace("_", " ")
