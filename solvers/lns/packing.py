"""A schedule where list schedulers run into memory limits: first a placement that fits, then the times."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.list_scheduler import list_schedule, schedule_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from solvers.exact_run import ExactRun

SHARE_OF_TIME = 0.3
"""Largest share of the time limit."""

MOST_EFFORT = 20.0
"""Deterministic time of CP-SAT; about as many seconds."""


def packed_schedule(instance: DagInstance, waste: NDArray[np.float64], run: ExactRun) -> DagSchedule | None:
    """Return a schedule whose placement CP-SAT found, with little waste; None where it found none.

    Parameters
    ----------
    instance
        What is scheduled.
    waste
        Ticks that each GPU wastes on each task, shape (n, m).
    run
        Its time limit and seed.
    """
    from ortools.sat.python import cp_model

    from solvers.cp_sat import solve_in_thread

    model, allowed = cp_model.CpModel(), instance.allowed
    on = {(int(task), int(k)): model.new_bool_var("") for task, k in zip(*np.nonzero(allowed), strict=True)}
    for task in range(instance.num_tasks):
        model.add_exactly_one(on[task, k] for k in np.flatnonzero(allowed[task]).tolist())
    for k in np.flatnonzero(instance.gpu_memory >= 0).tolist():
        tasks = np.flatnonzero(allowed[:, k]).tolist()
        used = cp_model.LinearExpr.weighted_sum(
            [on[task, k] for task in tasks], [int(instance.task_memory[task]) for task in tasks]
        )
        model.add(used <= int(instance.gpu_memory[k]))
    ticks = [min(round(float(waste[pair])), 2**40) for pair in on]
    model.minimize(cp_model.LinearExpr.weighted_sum(list(on.values()), ticks))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = run.threads
    solver.parameters.random_seed = run.seed % 2**31
    solver.parameters.catch_sigint_signal = False
    solver.parameters.relative_gap_limit = 0.01
    solver.parameters.max_deterministic_time = MOST_EFFORT
    if math.isfinite(run.seconds_left()):
        solver.parameters.max_time_in_seconds = max(run.seconds_left() * SHARE_OF_TIME, 0.01)
    status = solve_in_thread(solver, model, run, reports=False)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    pinned = np.zeros(instance.num_tasks, dtype=np.int64)
    for (task, k), literal in on.items():
        if solver.value(literal):
            pinned[task] = k
    return schedule_of(instance, list_schedule(dag_arrays(instance), pinned=pinned))
