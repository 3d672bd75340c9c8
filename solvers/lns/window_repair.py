"""The exact repair: CP-SAT on a stretch of the schedule."""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING

from formulations.dag.cp_sat.model import CpSatModel
from formulations.dag.subproblem import subproblem

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from instances.objective import Objective
    from solvers.exact_run import ExactRun

EFFORT = 0.2
"""Deterministic time of CP-SAT per repair; about half a second."""


class Repair(Enum):
    """How a repair ended."""

    BETTER = "better"
    """A better schedule was found."""
    NONE = "none"
    """There is none in this neighbourhood."""
    GAVE_UP = "gave up"
    """The effort was over before an answer."""


def repair_window(
    instance: DagInstance,
    objective: Objective,
    schedule: DagSchedule,
    value: int,
    first: int,
    last: int,
    most_gpus: int | None,
    run: ExactRun,
    seed: int,
) -> tuple[Repair, DagSchedule | None, float]:
    """Look for a better schedule that differs in one stretch only.

    Parameters
    ----------
    instance, objective
        What is scheduled, and what is minimised.
    schedule, value
        A schedule without needless waiting, and its objective.
    first, last, most_gpus
        The stretch and to how many GPUs its tasks may go, as in `subproblem`.
    run
        Asked whether to stop; its time limit holds.
    seed
        Of CP-SAT.

    Returns
    -------
    tuple
        How it ended, the better schedule if there is one, and the seconds spent in CP-SAT.
    """
    from ortools.sat.python import cp_model

    from solvers.cp_sat import solve_in_thread

    cut = subproblem(
        instance,
        schedule,
        objective,
        first=first,
        last=last,
        at_most=value - 1,
        lower_bound=run.lower_bound,
        most_gpus=most_gpus,
    )
    if cut.within.is_empty:
        return Repair.NONE, None, 0.0
    model = CpSatModel(cut.instance, objective, cut.within, symmetry=False, completion_tails=cut.completion_tails)
    model.hint(cut.schedule)
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.num_workers = 1
    parameters.random_seed = seed % 2**31
    parameters.catch_sigint_signal = False
    parameters.max_deterministic_time = EFFORT
    parameters.cp_model_probing_level = 0  # costs more than it wins on small models
    parameters.symmetry_level = 0  # windows have none; OR-Tools 9.15 fails in looking for it (IndexError, raw_hash_map)
    if math.isfinite(run.seconds_left()):
        parameters.max_time_in_seconds = max(run.seconds_left(), 0.01)
    try:
        status = solve_in_thread(solver, model.proto_model, run, reports=False)
    except IndexError:  # see above; an exception from presolve is no answer, and others may come up
        return Repair.GAVE_UP, None, 0.0
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"lns: expected a valid model, got: {model.proto_model.validate()}")
    if status == cp_model.INFEASIBLE:
        return Repair.NONE, None, solver.wall_time
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Repair.GAVE_UP, None, solver.wall_time
    return Repair.BETTER, cut.inserted(model.schedule(solver.value)), solver.wall_time
