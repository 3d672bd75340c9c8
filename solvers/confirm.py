"""Confirming what was proved: which claims of a run or of a table of bounds are put to which second model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from heuristics.search.clock import Stopwatch
from instances.dag.contention import Contention
from solvers.backends.second_opinion import second_model
from solvers.confirmation.claim import Confirmation, ask_second_model, claim_of_bound
from solvers.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule
    from solvers.run.bound import Bound
    from solvers.run.exact_run import ExactRun
    from solvers.run.outcome import Outcome


def _already(claim: str, confirmed_by: str) -> Confirmation:
    """Return that a claim was confirmed by the method itself."""
    return Confirmation(claim=claim, asked=confirmed_by, confirmed_by=confirmed_by)


def _is_exact(bound: Bound) -> bool:
    """Say whether an exact method stands behind a bound."""
    return bound.method in METHODS and METHODS[bound.method].kind == "exact"


def confirm_bound(
    instance: DagInstance, objective: Objective, bound: Bound, *, schedule: DagSchedule | None, run: ExactRun
) -> tuple[Bound, Confirmation]:
    """Ask a second model to refute that a schedule below a bound exists.

    A bound that CP-SAT proves is asked of the disjunctive MILP in HiGHS, any other one of CP-SAT; `second_opinion` says
    what they share. A bound that rests on contention may be asked of a model without it: what has no schedule there has
    none with it.

    Parameters
    ----------
    bound
        The claimed bound; a bound that is confirmed already is not asked about again.
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
        return bound, _already(claim_of_bound(objective, bound.value), bound.confirmed_by)
    first = f"{bound.method} ({bound.solver or 'no solver'})"
    by_search = _is_exact(bound)
    confirmation = ask_second_model(
        instance, objective, bound, schedule, first, bound.solver, by_search, run, bound.contention
    )
    return replace(bound, confirmed_by=confirmation.confirmed_by), confirmation


def confirm_bounds(
    instance: DagInstance, objective: Objective, bounds: Sequence[Bound], *, run: ExactRun
) -> tuple[list[Bound], list[Confirmation]]:
    """Confirm the bounds that no exact method proved, with as few questions as possible.

    What refutes a schedule below one of them refutes one below all smaller ones: the largest is asked first, and the
    next smaller value only where that was not reached.

    Parameters
    ----------
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
    bound
        The best known bound; None for none.

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
        return bound, ask_second_model(instance, objective, None, None, first, solver, by_search, run, contention)
    if bound is None:
        return None, None
    return confirm_bound(instance, objective, bound, schedule=outcome.schedule, run=run)
