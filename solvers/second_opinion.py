"""Asking a second model whether a schedule exists where a first one says that there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.contention import Contention
from solvers.second_model import SecondCpSat, SecondHighs, SecondModel

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from instances.objective import Objective
    from solvers.exact_run import ExactRun

PLAIN_SHARE = 0.5
"""Share of the time for windows of the second model's own, where it may fall back on those that the first one used."""

PLAIN_SECONDS = 60.0
"""The same where there is no time limit."""

LEAST_SECONDS = 0.01
"""Given to every question, however little time is left: tiny instances need no more."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Opinion:
    """What a second model says: what confirms the claim, or a schedule (not yet verified), or why it says nothing."""

    confirmed_by: str | None = None
    schedule: DagSchedule | None = None
    reason: str | None = None


def second_model(solver: str | None) -> SecondModel:
    """Return the model that is asked about what a solver proves: the MILP about CP-SAT, CP-SAT about all others."""
    return SecondHighs() if solver is not None and solver.startswith("ortools") else SecondCpSat()


def second_opinion(
    second: SecondModel,
    instance: DagInstance,
    objective: Objective,
    bound: int | None,
    run: ExactRun,
    *,
    own_windows_only: bool,
    contention: Contention = Contention.NONE,
) -> Opinion:
    """Ask whether a schedule with an objective below a bound exists.

    The second model is built from releases and durations alone (`plain_windows`, no symmetry breaking), so that no
    error in a bound, in heads and tails or in what follows from them can be in both.

    Parameters
    ----------
    second
        What is asked.
    instance, objective
        What is scheduled and minimised.
    bound
        Claimed lower bound, None where the claim is that there is no schedule at all.
    run
        Time, threads, seed; nothing that was proved before is handed over.
    own_windows_only
        Where False and half of the time is over without an answer, the second model is given the windows from
        join-aware heads and tails that the first one had too: it then confirms the search, not these windows, and
        `Opinion.confirmed_by` says so. Where these windows are empty no search is needed, and that is what it says.
    contention
        What transfers share; a second model that does not know the rule can only refute, for what has no schedule
        without it has none with it.
    """
    from formulations.dag.plain_windows import plain_windows  # Numba, which takes time to import
    from formulations.dag.windows import windows

    if bound is not None and bound <= 0:
        return Opinion(confirmed_by="times of at least 0")
    at_most, reason = None if bound is None else bound - 1, None
    for is_shared in (False,) if own_windows_only else (False, True):
        if run.should_stop():
            return Opinion(reason="interrupted")
        if is_shared:
            within = windows(instance, objective, lower_bound=0, objective_at_most=at_most)
        else:
            within = plain_windows(instance, objective, objective_at_most=at_most)
        if within.is_empty:
            return Opinion(confirmed_by="heads and tails" if is_shared else "releases and durations")
        seconds = run.seconds_left()
        if not own_windows_only and not is_shared:
            seconds = PLAIN_SECONDS if math.isinf(seconds) else PLAIN_SHARE * seconds
        answer = second.ask(
            instance,
            objective,
            within,
            run,
            seconds=max(seconds, LEAST_SECONDS),
            is_plain=not is_shared,
            contention=contention,
        )
        if answer.is_refuted:
            return Opinion(confirmed_by=f"{second.name}, windows shared" if is_shared else second.name)
        if answer.schedule is not None:
            return Opinion(schedule=answer.schedule)
        reason = answer.reason
    return Opinion(reason=reason or f"not reached in {run.watch.seconds:.3g} s")


def asked_of_cp_sat(
    instance: DagInstance, objective: Objective, bound: int, run: ExactRun
) -> tuple[str | None, DagSchedule | None]:
    """Ask CP-SAT to refute that a schedule with an objective below a bound exists, for a solver that claims the bound.

    Parameters
    ----------
    instance, objective
        As in `solve`.
    bound
        Claimed lower bound.
    run
        Threads, seed and the time that is left; nothing that was proved before is handed over.

    Returns
    -------
    tuple
        What confirms the bound (None: nothing), and a schedule that may contradict it (None: none was found).
    """
    opinion = second_opinion(SecondCpSat(), instance, objective, bound, run, own_windows_only=False)
    return opinion.confirmed_by, opinion.schedule
