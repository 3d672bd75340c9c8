"""The MILP that a good engineer writes in a day: the baseline that the MILPs here are measured against.

Pairwise disjunctive with one large constant, the horizon; three rows per product of placements in the transfers; HEFT's
schedule as start. No heads and tails, no bounds, no redundant rows. HiGHS with gaps of 0.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

import networkx as nx
import pyomo.environ as pyo

from solvers.backends.highs import compile_milp, run_highs
from solvers.solve import solve

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


def plain_big_m(instance: DagInstance, *, time_limit: float, threads: int, seed: int) -> tuple[float | None, bool]:
    """Minimise the makespan; return HiGHS's dual bound, and whether HiGHS calls its solution optimal."""
    hint = solve(instance, "heft").schedule
    assert hint is not None
    milp, _ = compile_milp(_model(instance, hint), has_start=True)
    limits = {"absolute_gap": 0.999, "threads": threads, "seed": seed}
    answer = run_highs(milp, time_limit=time_limit, **limits)
    if answer.is_failed:  # where presolve leaves a solution that misses HiGHS's own tolerance by a hair
        answer = run_highs(milp, time_limit=max(time_limit - answer.seconds, 0.1), presolve=False, **limits)
    return answer.dual_bound, answer.is_finished


def _model(instance: DagInstance, hint: DagSchedule) -> pyo.ConcreteModel:
    """Build the model with a start."""
    n, gpus = instance.num_tasks, range(instance.num_gpus)
    p, gpu, start = instance.durations.tolist(), hint.gpu.tolist(), hint.start.tolist()
    delays = [instance.transfer_delays(edge).tolist() for edge in range(instance.num_edges)]
    horizon = int(instance.release.max()) + sum(max(row) for row in p) + sum(max(map(max, rows)) for rows in delays)
    finish = [start[task] + p[task][gpu[task]] for task in range(n)]
    model = pyo.ConcreteModel()
    pairs = [(task, k) for task in range(n) for k in gpus if p[task][k] >= 0]
    model.x = pyo.Var(pairs, domain=pyo.Binary, initialize=lambda _, task, k: int(gpu[task] == k))
    model.s = pyo.Var(range(n), bounds=(0, horizon), initialize=lambda _, task: start[task])
    model.makespan = pyo.Var(bounds=(0, horizon), initialize=max(finish))
    model.rows = pyo.ConstraintList()

    def end(task: int) -> pyo.Expression:
        return model.s[task] + sum(p[task][k] * model.x[task, k] for k in gpus if p[task][k] >= 0)

    for task in range(n):
        model.rows.add(sum(model.x[task, k] for k in gpus if p[task][k] >= 0) == 1)
        model.rows.add(model.makespan >= end(task))
        model.rows.add(model.s[task] >= int(instance.release[instance.job_of_task[task]]))
    for k in gpus:
        if instance.gpu_memory[k] >= 0:
            used = sum(int(instance.task_memory[task]) * model.x[task, l] for task, l in pairs if l == k)
            model.rows.add(used <= int(instance.gpu_memory[k]))
    ends = instance.edges.tolist()
    moves = [
        (edge, k, l)
        for edge, (tail, head) in enumerate(ends)
        for k, l in product(gpus, gpus)
        if p[tail][k] >= 0 and p[head][l] >= 0 and delays[edge][k][l] > 0
    ]
    model.z = pyo.Var(
        moves, bounds=(0, 1), initialize=lambda _, e, k, l: int(gpu[ends[e][0]] == k and gpu[ends[e][1]] == l)
    )
    for edge, k, l in moves:
        tail, head = ends[edge]
        model.rows.add(model.z[edge, k, l] <= model.x[tail, k])
        model.rows.add(model.z[edge, k, l] <= model.x[head, l])
        model.rows.add(model.z[edge, k, l] >= model.x[tail, k] + model.x[head, l] - 1)
    for edge, (tail, head) in enumerate(ends):
        delay = sum(delays[e][k][l] * model.z[e, k, l] for e, k, l in moves if e == edge)
        model.rows.add(model.s[head] >= end(tail) + delay)
    closure = nx.transitive_closure_dag(nx.DiGraph(ends))
    free = [(h, i) for h, i in combinations(range(n), 2) if not (closure.has_edge(h, i) or closure.has_edge(i, h))]
    model.y = pyo.Var(free, domain=pyo.Binary, initialize=lambda _, h, i: int(finish[h] <= start[i]))
    for h, i in free:
        for k in gpus:
            if p[h][k] > 0 and p[i][k] > 0:
                off = 2 - model.x[h, k] - model.x[i, k]
                model.rows.add(model.s[i] >= end(h) - horizon * (1 - model.y[h, i]) - horizon * off)
                model.rows.add(model.s[h] >= end(i) - horizon * model.y[h, i] - horizon * off)
    model.cost = pyo.Objective(expr=model.makespan)
    return model
