"""B10, time-indexed: what has started where by when, on buckets of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.dag.bounds.path_bound import path_bound
from formulations.dag.bounds.time_indexed_completion import time_indexed_completion
from formulations.dag.bounds.time_indexed_makespan import time_indexed_makespan
from formulations.dag.heads_and_tails import heads_and_tails
from instances.contention import Contention
from instances.objective import Objective

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance


def time_indexed(instance: DagInstance, objective: Objective, contention: Contention = Contention.NONE) -> int:
    """Return the bound of the time-indexed relaxation, proved by multipliers in exact integer arithmetic.

    The relaxation is that of `TimeIndexedLp`, on buckets so wide that it stays small (`TimeGrid` says why that is
    right). Always valid. Measured on 17 generated instances of 5 to 42 tasks: 0.948 of the optimal makespan on average
    in 0.5 s, where the best of the other bounds has 0.925; on 22 with several jobs 0.90 of the best known weighted
    completion in 0.7 s, where the others have 0.81; on jobs of one task without releases 0.997 to 1.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised. Weighted completion of a single job is its weight times the makespan.
    contention
        What transfers share; heads and tails know it. The relaxation holds with and without it.
    """
    around = heads_and_tails(instance, contention=contention)
    proven = path_bound(instance, objective, around)
    if instance.num_tasks == 0 or not around.allowed.any(axis=1).all():
        return proven
    if objective is Objective.MAKESPAN:
        return max(proven, time_indexed_makespan(instance, contention))
    if instance.num_jobs == 1:
        return max(proven, int(instance.weight[0]) * time_indexed_makespan(instance, contention))
    return max(proven, time_indexed_completion(instance, around))
