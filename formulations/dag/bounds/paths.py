"""B1 to B3, longest paths: with free transfers, the cheapest links, joins, and joins under contention."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.heads_and_tails import heads_and_tails, path_bound
from instances.dag.contention import Contention
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance


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


def transfer_aware_path(instance: DagInstance, objective: Objective) -> int:
    """Return max over i of min over k of (H + p + T) with transfer-aware heads and tails.

    Valid for transfer delays of at least 0, that is always here (textbook); never below the critical path.
    """
    return path_bound(instance, objective, heads_and_tails(instance, join_aware=False))


def join_aware_path(instance: DagInstance, objective: Objective) -> int:
    """Return max over i of min over k of (H + p + T) with join-aware heads and tails.

    Valid where a GPU runs one task at a time and no task is duplicated, that is always here; our own derivation (see
    `heads_and_tails`); never below the transfer-aware path.
    """
    return path_bound(instance, objective, heads_and_tails(instance, join_aware=True))


def nic_aware_path(instance: DagInstance, objective: Objective, contention: Contention = Contention.NIC) -> int:
    """Return max over i of min over k of (H + p + T) with heads and tails that know contention.

    Valid under the rule of `Contention.NIC` only; our own derivation (see `nic_join`); never below the join-aware path.
    Without contention it is the join-aware path.
    """
    return path_bound(instance, objective, heads_and_tails(instance, contention=contention))
