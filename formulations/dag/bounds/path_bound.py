"""From heads and tails to a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.objective import Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formulations.dag.heads_and_tails import HeadsAndTails
    from instances.dag_instance import DagInstance


def path_bound(instance: DagInstance, objective: Objective, around: HeadsAndTails) -> int:
    """Return max over i of min over k of (H + p + T); for weighted completion the same per job, weighted and summed."""
    if objective is Objective.MAKESPAN:
        return int(_through_each_task(instance, around, around.tails).max(initial=0))
    return int(instance.weight @ job_path_bounds(instance, around))


def job_path_bounds(instance: DagInstance, around: HeadsAndTails) -> NDArray[np.int64]:
    """Return a lower bound on the completion time of every job, shape (jobs,)."""
    completion = np.array(instance.release)
    np.maximum.at(completion, instance.job_of_task, _through_each_task(instance, around, around.job_tails))
    return completion


def _through_each_task(instance: DagInstance, around: HeadsAndTails, tails: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return min over k of (H + p + T) for every task, shape (n,); 0 where no GPU is left (infeasible)."""
    through = np.where(around.allowed, around.heads + instance.durations + tails, np.iinfo(np.int64).max)
    least = through.min(axis=1, initial=np.iinfo(np.int64).max)
    return np.where(around.allowed.any(axis=1), least, 0)
