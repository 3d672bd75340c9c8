"""B4, area: all the work must fit on all GPUs, whatever the order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.assignment_lp import AssignmentLp, Multipliers
from instances.objective import Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance

MAX_LP_PAIRS = 60_000
"""Above this many (task, GPU) pairs the multipliers come from dual ascent, not from the LP."""


def area(instance: DagInstance, objective: Objective) -> int:
    """Return the area bound: the optimum of the LP below, proved by its multipliers.

    min C: sum_k x[i,k] = 1; sum_i p[i,k] x[i,k] <= C for each k; sum_k p[i,k] x[i,k] <= C for each i; memory; x >= 0.
    Lawler and Labetoulle (1978); edges are ignored, the first release is added. `AssignmentLp.prove` says why the bound
    holds whatever the LP solver did. For weighted completion the bound of each job's own tasks is added to its release,
    weighted and summed.
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
    lp = AssignmentLp(instance, tasks, instance.allowed[tasks])
    lp.add_area_rows()
    even = np.ones(len(lp.rows))
    no_prices = np.zeros(instance.num_gpus)
    if len(lp.task_of_pair) > MAX_LP_PAIRS:
        return max(lp.prove(Multipliers(row=row, memory=no_prices)) for row in (even, ascend(lp)))
    simple = lp.prove(Multipliers(row=even, memory=no_prices))
    lp.add_task_rows(lp.durations)
    return max(simple, lp.prove(lp.solve()[0]))


def ascend(lp: AssignmentLp, rounds: int = 60) -> NDArray[np.float64]:
    """Return multipliers of area rows by multiplicative updates: GPUs that the cheapest choice overloads become dearer.

    Parameters
    ----------
    lp
        With its area rows only.
    rounds
        How often the multipliers are updated.
    """
    row_of_pair = np.empty(len(lp.task_of_pair), dtype=np.int64)
    for index, row in enumerate(lp.rows):
        row_of_pair[row.pairs] = index
    first = np.searchsorted(lp.task_of_pair, np.arange(lp.task_of_pair[-1] + 1))
    price = np.full(len(lp.rows), 1.0 / len(lp.rows))
    best, best_value = price, -np.inf
    for number in range(rounds):
        cost = lp.durations * price[row_of_pair]
        least = np.minimum.reduceat(cost, first)
        if least.sum() > best_value:
            best, best_value = price, float(least.sum())
        chosen = cost == least[lp.task_of_pair]  # ties count on every GPU: the direction matters, not its length
        work = np.bincount(row_of_pair[chosen], weights=lp.durations[chosen], minlength=len(price))
        price = price * np.exp((work - work.mean()) / max(work.max(), 1.0) / np.sqrt(number + 1.0))
        price = price / price.sum()
    return best
