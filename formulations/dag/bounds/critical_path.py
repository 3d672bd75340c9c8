"""B1, critical path: the longest path with smallest durations and free transfers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.objective import Objective

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance


def critical_path(instance: DagInstance, objective: Objective) -> int:
    """Return the longest path from the release of its first task, with smallest durations over allowed GPUs.

    For weighted completion: the longest such path that ends in each job, weighted and summed. Always valid (textbook).
    """
    shortest = np.where(instance.allowed, instance.durations, np.iinfo(np.int64).max)
    duration = shortest.min(axis=1, initial=np.iinfo(np.int64).max).tolist()
    finish = instance.release[instance.job_of_task].tolist()  # the release, then the finish once the task had its turn
    followers: list[list[int]] = [[] for _ in range(instance.num_tasks)]
    for tail, head in instance.edges.tolist():
        followers[tail].append(head)
    for task in instance.topological_order.tolist():
        finish[task] += duration[task]
        for follower in followers[task]:
            finish[follower] = max(finish[follower], finish[task])
    if objective is Objective.MAKESPAN:
        return int(max(finish, default=0))
    completion = np.array(instance.release)
    np.maximum.at(completion, instance.job_of_task, np.array(finish, dtype=np.int64))
    return int(instance.weight @ completion)
