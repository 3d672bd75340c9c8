"""From refuted makespans to bounds of both objectives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.path_bound import job_path_bounds, path_bound
from formulations.dag.bounds.srpt import rank_wise
from formulations.dag.heads_and_tails import HeadsAndTails, heads_and_tails
from formulations.dag.probing.refuter import Refuter
from formulations.dag.windows import horizon
from instances.objective import Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.contention import Contention
    from instances.dag_instance import DagInstance

MAX_DELAYS = 20_000_000
"""Above this many edges times pairs of GPUs nothing beyond the paths is tried: it would take too much memory."""


def refuted_makespans(
    instance: DagInstance, objective: Objective, contention: Contention, *, passes: int, most_work: int
) -> int:
    """Return the bound of the largest makespan that `Refuter` refutes.

    For weighted completion each job is scheduled alone, with the heads that it has among all jobs and the tails within
    it: taking away the tasks of the others leaves a schedule whose makespan is the job's completion time. The same
    holds for the last one of several jobs; `rank_wise` puts these bounds together.

    Parameters
    ----------
    instance, objective, contention
        As of every bound.
    passes, most_work
        Of `Refuter.climb`, which first climbs without probing; the work is shared.
    """
    around = heads_and_tails(instance, contention=contention)
    is_possible = bool(around.allowed.any(axis=1).all())
    if instance.num_tasks == 0 or not is_possible or instance.num_edges * instance.num_gpus**2 > MAX_DELAYS:
        return path_bound(instance, objective, around)
    latest = horizon(instance)
    if objective is Objective.MAKESPAN:
        return _least_makespan(instance, around, path_bound(instance, objective, around), latest, passes, most_work)
    completion = job_path_bounds(instance, around)
    layers = len(np.unique(instance.weight[instance.weight > 0]))

    def last_of(jobs: NDArray[np.int64]) -> int:
        """Return a bound on the makespan of some jobs."""
        tasks = np.flatnonzero(np.isin(instance.job_of_task, jobs))
        proven = int(completion[jobs].max())
        if len(tasks) < 2:
            return proven
        own = HeadsAndTails(
            heads=around.heads[tasks],
            tails=around.job_tails[tasks],
            job_tails=around.job_tails[tasks],
            allowed=around.allowed[tasks],
        )
        share = most_work * len(tasks) // (instance.num_tasks * (layers + 1))
        return _least_makespan(_part(instance, tasks), own, proven, latest, passes, share)

    for job in np.flatnonzero(instance.weight > 0).tolist():
        completion[job] = last_of(np.array([job]))
    return rank_wise(instance, completion, last_of)


def _least_makespan(
    instance: DagInstance, around: HeadsAndTails, proven: int, latest: int, passes: int, most_work: int
) -> int:
    """Return a bound on the makespan that is at least a proven one; some schedule ends by `latest` if there is any."""
    refuter = Refuter(instance, around)
    refuted = refuter.climb(proven - 1, horizon=latest)
    if passes:
        refuted = refuter.climb(refuted, passes=passes, most_work=most_work, horizon=latest)
    return max(proven, min(refuted + 1, latest))  # where the latest is refuted there is no schedule at all


def _part(instance: DagInstance, tasks: NDArray[np.int64]) -> DagInstance:
    """Return the instance of some tasks and the edges among them."""
    place = np.full(instance.num_tasks, -1)
    place[tasks] = np.arange(len(tasks))
    ends = place[instance.edges]
    inside = (ends >= 0).all(axis=1)
    return replace(
        instance,
        durations=instance.durations[tasks],
        task_memory=instance.task_memory[tasks],
        job_of_task=instance.job_of_task[tasks],
        edges=ends[inside],
        edge_bytes=instance.edge_bytes[inside],
        task_names=tuple(instance.task_names[task] for task in tasks.tolist()),
    )
