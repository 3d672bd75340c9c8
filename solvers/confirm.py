"""A second opinion on a claimed bound: is there a schedule below it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from formulations.dag.windows import windows
from solvers.versions import version_of

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from instances.objective import Objective
    from solvers.exact_run import ExactRun

Opinion = tuple[str | None, "DagSchedule | None"]
"""What confirms the bound (None: nothing), and a schedule that contradicts it (None: none was found)."""


def asked_of_cp_sat(instance: DagInstance, objective: Objective, bound: int, run: ExactRun) -> Opinion:
    """Ask CP-SAT to refute that a schedule with an objective below a bound exists.

    Parameters
    ----------
    instance, objective
        As in `solve`.
    bound
        Claimed lower bound.
    run
        Threads, seed and the time that is left; nothing that was proved before is handed over.
    """
    from ortools.sat.python import cp_model

    from formulations.dag.cp_sat.model import CpSatModel
    from solvers.cp_sat import solve_in_thread

    name = f"CP-SAT (ortools {version_of('ortools')})"
    within = windows(instance, objective, lower_bound=0, objective_at_most=bound - 1)
    if bound <= 0 or within.is_empty:
        return "heads and tails", None
    model, solver = CpSatModel(instance, objective, within), cp_model.CpSolver()
    solver.parameters.num_workers = run.threads
    solver.parameters.random_seed = run.seed % 2**31
    solver.parameters.catch_sigint_signal = False
    if math.isfinite(run.seconds_left()):
        solver.parameters.max_time_in_seconds = max(run.seconds_left(), 0.01)
    status = solve_in_thread(solver, model.proto_model, run, reports=False)
    if status == cp_model.INFEASIBLE:
        return name, None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, model.schedule(solver.value)
    return None, None
