"""The CP-SAT model that a good engineer writes in a day: the baseline that `cp-sat` is measured against.

Optional intervals and no-overlap per GPU, one reified transfer row per edge and pair of GPUs, memory, HEFT's schedule
as hint, default search. No heads and tails, no bounds, no redundant rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from instances.dag.schedule import DagSchedule
from solvers.solve import solve

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance


def plain_cp_sat(
    instance: DagInstance, *, time_limit: float, threads: int, seed: int
) -> tuple[DagSchedule | None, int, bool]:
    """Minimise the makespan; return schedule, lower bound, and whether it is proved to be optimal."""
    n, m = instance.num_tasks, instance.num_gpus
    hint = solve(instance, "heft").schedule
    horizon = int(instance.release.max() + instance.durations.max(axis=1).sum())
    horizon += sum(int(instance.transfer_delays(edge).max()) for edge in range(instance.num_edges))
    model = cp_model.CpModel()
    makespan = model.new_int_var(0, horizon, "makespan")
    on, start, end = {}, [], []
    intervals: list[list[cp_model.IntervalVar]] = [[] for _ in range(m)]
    for task in range(n):
        release = int(instance.release[instance.job_of_task[task]])
        start.append(model.new_int_var(release, horizon, f"start[{task}]"))
        end.append(model.new_int_var(release, horizon, f"end[{task}]"))
        for k in np.flatnonzero(instance.allowed[task]).tolist():
            on[task, k] = model.new_bool_var(f"on[{task},{k}]")
            duration = int(instance.durations[task, k])
            model.add(end[task] == start[task] + duration).only_enforce_if(on[task, k])
            if duration:
                intervals[k].append(
                    model.new_optional_interval_var(start[task], duration, end[task], on[task, k], f"run[{task},{k}]")
                )
        model.add_exactly_one(literal for (i, _), literal in on.items() if i == task)
        model.add(makespan >= end[task])
    for k in range(m):
        model.add_no_overlap(intervals[k])
        if instance.gpu_memory[k] >= 0:
            used = sum(int(instance.task_memory[i]) * literal for (i, l), literal in on.items() if l == k)
            model.add(used <= int(instance.gpu_memory[k]))
    for edge, (tail, head) in enumerate(instance.edges.tolist()):
        delays = instance.transfer_delays(edge)
        for k in range(m):
            for l in range(m):
                if (tail, k) in on and (head, l) in on:
                    model.add(start[head] >= end[tail] + int(delays[k, l])).only_enforce_if(on[tail, k], on[head, l])
    model.minimize(makespan)
    if hint is not None:
        for (task, k), literal in on.items():
            model.add_hint(literal, int(hint.gpu[task] == k))
        for task in range(n):
            model.add_hint(start[task], int(hint.start[task]))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = time_limit
    solver.parameters.num_workers = threads
    solver.parameters.random_seed = seed
    status = solver.solve(model)
    bound = int(solver.response_proto.inner_objective_lower_bound)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, bound, False
    gpu = [next(k for k in range(m) if (task, k) in on and solver.value(on[task, k])) for task in range(n)]
    schedule = DagSchedule(gpu=np.array(gpu), start=np.array([solver.value(variable) for variable in start]))
    return schedule, bound, status == cp_model.OPTIMAL
