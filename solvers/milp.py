"""Running a MILP: HiGHS searches, CP-SAT confirms what it claims."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.windows import windows
from instances.objective import Objective, objective_value
from instances.verify_dag_schedule import verify_dag_schedule
from solvers.compiled_milp import compile_milp
from solvers.confirm import asked_of_cp_sat
from solvers.contradiction import raise_contradiction
from solvers.highs import run_highs
from solvers.highs_worker import run_highs_in_worker
from solvers.outcome import Outcome
from solvers.status import Termination
from solvers.versions import version_of

if TYPE_CHECKING:
    from formulations.dag.windows import Windows
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from solvers.exact_run import ExactRun
    from solvers.highs import HighsAnswer

MAX_HORIZON = 500_000
"""Ticks up to which the constants that switch rows off stay meaningful beside HiGHS's tolerance of 1e-6."""

MAX_PAIR_ROWS = 150_000
"""Pairs of tasks times GPUs up to which a model is worth building."""

CONFIRMATION_SHARE = 0.2
"""Share of the time limit that is kept for the second opinion."""


def milp_disjunctive(instance: DagInstance, objective: Objective, run: ExactRun, *, worker: bool = False) -> Outcome:
    """Solve the pairwise disjunctive MILP with HiGHS, and let CP-SAT confirm a claimed optimum.

    No bound rests on HiGHS alone: released versions have returned wrong optima, and its tolerances can too. What CP-SAT
    cannot confirm in the time that is left is not claimed. Instances beyond `MAX_HORIZON` or `MAX_PAIR_ROWS` are not
    tried: the run ends at once as failed, with the start and the bound that it was given.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    run
        Limits and start.
    worker
        Whether HiGHS runs in a process of its own, which is killed if it overruns the time limit.

    Returns
    -------
    Outcome
        Best schedule and bound.

    Raises
    ------
    ContradictionError
        If CP-SAT finds a schedule below what HiGHS proves, or HiGHS finds none where one is verified.
    """
    from formulations.dag.milp.disjunctive import DisjunctiveModel

    schedule, solver = run.start, f"highspy {version_of('highspy')}"
    at_most = None if schedule is None else objective_value(instance, schedule, objective)
    if at_most is not None and at_most <= run.lower_bound:
        return Outcome(schedule=schedule, lower_bound=run.lower_bound)
    within = windows(instance, objective, lower_bound=run.lower_bound, objective_at_most=at_most)
    if within.is_empty:
        return Outcome(schedule=None, lower_bound=None, is_infeasible=True)
    if run.should_stop():
        return Outcome(schedule=schedule, lower_bound=run.lower_bound, termination=Termination.INTERRUPTED)
    if _is_beyond_reach(instance, within):
        return Outcome(schedule=schedule, lower_bound=run.lower_bound, termination=Termination.FAILED)
    model = DisjunctiveModel(instance, objective, within)
    has_start = schedule is not None and model.set_start(schedule)
    step = _least_step(instance, objective)
    milp, columns = compile_milp(model.pyomo_model, has_start=has_start)
    answer = (run_highs_in_worker if worker else run_highs)(
        milp,
        absolute_gap=0.999 * step,
        time_limit=run.seconds_left() * (1.0 - CONFIRMATION_SHARE),
        threads=run.threads,
        seed=run.seed,
        report=lambda value, _: run.report(_ticks(value), None),  # a bound counts once it is confirmed
        should_stop=run.should_stop,
    )
    if answer.solution is not None:
        for column, value in zip(columns, answer.solution, strict=True):
            column.set_value(value, skip_validation=True)
        schedule = _better(instance, objective, schedule, model.schedule())
    if answer.is_infeasible:
        return _infeasible(instance, objective, run, schedule, answer, solver)
    termination = Termination.FINISHED if answer.is_finished else Termination.TIME_LIMIT
    if run.should_stop():
        termination = Termination.INTERRUPTED
    claimed, confirmed_by = _rounded_up(answer.dual_bound, within.at_most, step) or 0, None
    if schedule is not None:
        claimed = min(claimed, objective_value(instance, schedule, objective))
    if claimed > run.lower_bound and not run.should_stop():
        confirmed_by, better = asked_of_cp_sat(instance, objective, claimed, run)
        if better is not None and not verify_dag_schedule(instance, better):
            claim = f"HiGHS proves {claimed}, CP-SAT finds {objective_value(instance, better, objective)}."
            raise_contradiction(instance, claim, schedule=better, evidence={"solver": solver, "seed": run.seed})
    bound = claimed if confirmed_by is not None else run.lower_bound
    if termination is Termination.FINISHED and (
        schedule is None or objective_value(instance, schedule, objective) > bound
    ):
        termination = Termination.FAILED  # HiGHS believes itself done; what it believes is not proved
    return Outcome(
        schedule=schedule,
        lower_bound=bound,
        termination=termination,
        backend_seconds=answer.seconds,
        solver=solver,
        confirmed_by=confirmed_by,
    )


def _is_beyond_reach(instance: DagInstance, within: Windows) -> bool:
    """Say whether HiGHS's tolerance of 1e-6 could switch rows off, or the model would have too many rows."""
    horizon = int(within.latest_finish[within.around.allowed].max(initial=0))
    num_pairs = instance.num_tasks * (instance.num_tasks - 1) // 2
    return horizon > MAX_HORIZON or num_pairs * instance.num_gpus > MAX_PAIR_ROWS


def _infeasible(
    instance: DagInstance,
    objective: Objective,
    run: ExactRun,
    schedule: DagSchedule | None,
    answer: HighsAnswer,
    solver: str,
) -> Outcome:
    """Return that there is no schedule, if CP-SAT says so too; a verified schedule contradicts it."""
    if schedule is not None:
        claim = "HiGHS claims that no schedule exists within the objective of a verified one."
        raise_contradiction(instance, claim, schedule=schedule, evidence={"solver": solver, "seed": run.seed})
    everything = windows(instance, objective, lower_bound=0, objective_at_most=None).at_most
    confirmed_by, found = asked_of_cp_sat(instance, objective, everything + 1, run)
    if found is not None and not verify_dag_schedule(instance, found):
        claim = "HiGHS claims that no schedule exists, CP-SAT finds one."
        raise_contradiction(instance, claim, schedule=found, evidence={"solver": solver, "seed": run.seed})
    return Outcome(
        schedule=None,
        lower_bound=None if confirmed_by is not None else run.lower_bound,
        is_infeasible=confirmed_by is not None,
        termination=Termination.FINISHED if confirmed_by is not None else Termination.TIME_LIMIT,
        backend_seconds=answer.seconds,
        solver=solver,
        confirmed_by=confirmed_by,
    )


def _better(instance: DagInstance, objective: Objective, old: DagSchedule | None, new: DagSchedule) -> DagSchedule:
    """Return the better of two schedules; one that does not verify (a tolerance too far) counts as none."""
    if verify_dag_schedule(instance, new):
        if old is None:
            return new  # the result refuses it, with every violation
        return old
    return new if old is None else min(new, old, key=lambda one: objective_value(instance, one, objective))


def _least_step(instance: DagInstance, objective: Objective) -> int:
    """Return the least difference between two values of the objective."""
    if objective is Objective.MAKESPAN:
        return 1
    return max(math.gcd(*instance.weight.tolist()), 1)


def _ticks(value: float | None) -> int | None:
    """Return an objective that HiGHS reports as ticks."""
    return None if value is None or not np.isfinite(value) else round(value)


def _rounded_up(bound: float | None, at_most: int, step: int) -> int | None:
    """Round a bound up to a multiple of the objective's step, less what HiGHS's tolerances of 1e-6 can amount to."""
    if bound is None or not np.isfinite(bound):
        return None
    return step * math.ceil((bound - 1e-3 - 1e-6 * at_most) / step)
