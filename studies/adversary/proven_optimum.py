"""The proven optimum of a small instance, the same every time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from heuristics.stopwatch import Stopwatch
from instances.objective import objective_value
from instances.verify_dag_schedule import verify_dag_schedule
from solvers.bound import Bound
from solvers.cp_sat import cp_sat
from solvers.exact_run import ExactRun
from solvers.proven_bounds import check_against_bounds
from solvers.status import Termination
from studies.adversary.contestant import InterruptedRunError

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from instances.objective import Objective

DEFAULT_LIMIT = 20.0
"""Deterministic time of one proof; instances of 8 tasks on 3 GPUs need hundredths of it."""


def proven_optimum(
    instance: DagInstance,
    objective: Objective,
    start: DagSchedule,
    lower_bound: Bound,
    *,
    limit: float = DEFAULT_LIMIT,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[DagSchedule, Bound] | None:
    """Return a verified schedule and the bound that it meets, None where there is no such proof within the limit.

    CP-SAT with one thread and a limit in deterministic time: neither the clock nor the load of the machine has a say.

    Parameters
    ----------
    instance, objective
        What is scheduled and minimised.
    start
        A verified schedule; it is returned where it meets the bound.
    lower_bound
        Proven.
    limit
        Deterministic time (`ExactRun.deterministic_limit`).
    should_stop
        Asked now and then.

    Raises
    ------
    InterruptedRunError
        If it was stopped.
    ContradictionError
        If the proof contradicts a verified schedule.
    """
    if objective_value(instance, start, objective) == lower_bound.value:
        return start, replace(lower_bound, seconds=0.0, is_optimum=True)
    run: ExactRun[DagSchedule] = ExactRun(
        start=start,
        lower_bound=lower_bound.value,
        time_limit=None,
        threads=1,
        seed=0,
        watch=Stopwatch(),
        report=lambda objective, bound: None,
        should_stop=should_stop,
        deterministic_limit=limit,
    )
    outcome = cp_sat(instance, objective, run)
    if outcome.termination is Termination.INTERRUPTED:
        raise InterruptedRunError("cp-sat")
    if outcome.schedule is None or outcome.lower_bound is None:
        return None
    if violations := verify_dag_schedule(instance, outcome.schedule):
        raise RuntimeError(f"cp-sat: expected a schedule that verifies, got {violations[0]}.")
    bound = Bound(
        value=outcome.lower_bound,
        method="cp-sat",
        proof="search to the end",
        solver=outcome.solver,
        is_optimum=True,
        objective_name=str(objective),
        threads=1,
        seed=0,
    )
    for schedule in (outcome.schedule, start):
        value = objective_value(instance, schedule, objective)
        check_against_bounds(instance, schedule, value, [bound], "cp-sat", 0)
    is_proven = objective_value(instance, outcome.schedule, objective) == bound.value
    return (outcome.schedule, bound) if is_proven else None
