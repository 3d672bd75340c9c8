"""B4, area: all the work must fit on all GPUs, whatever the order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from instances.objective import Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance

MAX_LP_COLUMNS = 60_000
"""Above this many (task, GPU) pairs the multipliers come from dual ascent, not from the LP."""

_SCALE = 2**30
"""Multipliers are rounded down to multiples of 1 / _SCALE, so that a bound is exact integer arithmetic."""

_FINE_SCALE = 2**60
"""The same where memory has a price: ticks per byte are small numbers."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AreaMultipliers:
    """Dual multipliers of the area LP; any non-negative ones give a valid bound.

    Parameters
    ----------
    load
        Of the row "work on GPU k is at most C", shape (m,).
    task
        Of the row "duration of task i is at most C", shape (n,).
    memory
        Of the row "memory on GPU k is at most its capacity", shape (m,), ticks per byte; 0 where there is no limit.
    """

    load: NDArray[np.float64]
    task: NDArray[np.float64]
    memory: NDArray[np.float64]


def area(instance: DagInstance, objective: Objective) -> int:
    """Return the area bound: the optimum of the LP below, proved by its multipliers in exact integer arithmetic.

    min C: sum_k x[i,k] = 1; sum_i p[i,k] x[i,k] <= C for each k; sum_k p[i,k] x[i,k] <= C for each i; memory; x >= 0.
    Lawler and Labetoulle (1978); edges are ignored, the first release is added. Whatever solver found them, multipliers
    u (load), v (task), y (memory) >= 0 prove

        C >= (sum_i min over allowed k of ((u[k] + v[i]) p[i,k] + y[k] a[i]) - sum_k y[k] M[k]) / (sum u + sum v),

    so neither tolerances nor a wrong answer of the LP solver can make the bound invalid. For weighted completion the
    bound of each job's own tasks is added to its release, weighted and summed.
    """
    if objective is Objective.MAKESPAN:
        if instance.num_tasks == 0:
            return 0
        first_release = int(instance.release[instance.job_of_task].min())
        return first_release + _area_of_tasks(instance, np.arange(instance.num_tasks))
    completion = [
        int(instance.release[job]) + _area_of_tasks(instance, np.flatnonzero(instance.job_of_task == job))
        for job in range(instance.num_jobs)
    ]
    return int(instance.weight @ np.array(completion, dtype=np.int64))


def _area_of_tasks(instance: DagInstance, tasks: NDArray[np.int64]) -> int:
    """Return the area bound of some tasks that start at 0."""
    if len(tasks) == 0:
        return 0
    small = len(tasks) * instance.num_gpus <= MAX_LP_COLUMNS
    even = AreaMultipliers(
        load=np.ones(instance.num_gpus), task=np.zeros(len(tasks)), memory=np.zeros(instance.num_gpus)
    )
    found = _solve_lp(instance, tasks) if small else _ascend(instance, tasks)
    return max(proved_area(instance, tasks, multipliers) for multipliers in (even, found))


def proved_area(instance: DagInstance, tasks: NDArray[np.int64], multipliers: AreaMultipliers) -> int:
    """Return the bound that some multipliers prove for some tasks, in exact integer arithmetic, rounded up.

    Parameters
    ----------
    instance
        What is scheduled.
    tasks
        Which tasks count, shape (q,).
    multipliers
        Any; negative entries count as 0. Their `task` has shape (q,).
    """
    weight = float(np.maximum(multipliers.load, 0.0).sum() + np.maximum(multipliers.task, 0.0).sum())
    if weight <= 0.0:
        return 0
    scale = (_FINE_SCALE if (multipliers.memory > 0).any() else _SCALE) / weight
    load, task, memory = (
        [int(entry) for entry in np.maximum(entries, 0.0) * scale]
        for entries in (multipliers.load, multipliers.task, multipliers.memory)
    )
    total = sum(load) + sum(task)
    if total == 0:
        return 0
    capacities = instance.gpu_memory.tolist()
    memory = [0 if capacity < 0 else price for price, capacity in zip(memory, capacities, strict=True)]
    value = -sum(price * capacity for price, capacity in zip(memory, capacities, strict=True))
    largest = 2 * total * int(instance.durations.max()) + max(memory) * int(instance.task_memory.max())
    kind = np.int64 if largest * (len(tasks) + 1) < 2**62 else object  # Python integers where 64 bits are too few
    prices = np.array(load, dtype=kind) + np.array(task, dtype=kind)[:, None]
    cost = prices * instance.durations[tasks].astype(kind)
    cost = cost + np.array(memory, dtype=kind) * instance.task_memory[tasks].astype(kind)[:, None]
    value += int(np.where(instance.allowed[tasks], cost, largest + 1).min(axis=1).sum())
    return max(0, -(-int(value) // total))


def _solve_lp(instance: DagInstance, tasks: NDArray[np.int64]) -> AreaMultipliers:
    """Solve the LP with HiGHS and return its multipliers."""
    import highspy

    q, m = len(tasks), instance.num_gpus
    rows_of, gpu_of = np.nonzero(instance.allowed[tasks])
    columns = np.arange(len(rows_of))
    durations = instance.durations[tasks[rows_of], gpu_of].astype(np.float64)
    scale = max(float(durations.max()), 1.0)  # durations near 1 keep the tolerances meaningful
    limited = instance.gpu_memory >= 0
    capacity = np.where(limited, np.maximum(instance.gpu_memory, 1), 1).astype(np.float64)
    filled = np.where(limited[gpu_of], instance.task_memory[tasks[rows_of]] / capacity[gpu_of], 0.0)
    makespan = np.full(m + q, len(columns))
    entries = np.concatenate([np.ones(len(columns)), durations / scale, durations / scale, filled, -np.ones(m + q)])
    row_index = np.concatenate([rows_of, q + gpu_of, q + m + rows_of, 2 * q + m + gpu_of, q + np.arange(m + q)])
    column_index = np.concatenate([columns, columns, columns, columns, makespan])
    num_rows, num_columns = 2 * q + 2 * m, len(columns) + 1
    by_column = np.lexsort((row_index, column_index))
    nonzero = by_column[entries[by_column] != 0.0]
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = num_columns, num_rows
    lp.col_cost_ = np.concatenate([np.zeros(len(columns)), [1.0]])
    lp.col_lower_, lp.col_upper_ = np.zeros(num_columns), np.full(num_columns, highspy.kHighsInf)
    lp.row_lower_ = np.concatenate([np.ones(q), np.full(q + 2 * m, -highspy.kHighsInf)])
    lp.row_upper_ = np.concatenate([np.ones(q), np.zeros(q + m), np.ones(m)])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.searchsorted(column_index[nonzero], np.arange(num_columns + 1))
    lp.a_matrix_.index_, lp.a_matrix_.value_ = row_index[nonzero], entries[nonzero]
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.passModel(lp)
    highs.run()
    duals = np.array(highs.getSolution().row_dual)
    if len(duals) != num_rows:  # no multipliers: the even ones still prove something
        duals = np.zeros(num_rows)
    return AreaMultipliers(
        load=np.maximum(-duals[q : q + m], 0.0),
        task=np.maximum(-duals[q + m : 2 * q + m], 0.0),
        memory=np.where(limited, np.maximum(-duals[2 * q + m :], 0.0) * scale / capacity, 0.0),
    )


def _ascend(instance: DagInstance, tasks: NDArray[np.int64], rounds: int = 60) -> AreaMultipliers:
    """Improve the load multipliers by multiplicative updates: GPUs that the cheapest choice overloads become dearer."""
    durations = np.where(instance.allowed[tasks], instance.durations[tasks], np.inf)
    load = np.full(instance.num_gpus, 1.0 / instance.num_gpus)
    best, best_value = load, -np.inf
    for number in range(rounds):
        cost = durations * load
        choice = cost.argmin(axis=1)
        value = float(cost[np.arange(len(tasks)), choice].sum())
        if value > best_value:
            best, best_value = load, value
        work = np.bincount(choice, weights=durations[np.arange(len(tasks)), choice], minlength=len(load))
        load = load * np.exp((work - work.mean()) / max(work.max(), 1.0) / np.sqrt(number + 1.0))
        load = load / load.sum()
    return AreaMultipliers(load=best, task=np.zeros(len(tasks)), memory=np.zeros(len(load)))
