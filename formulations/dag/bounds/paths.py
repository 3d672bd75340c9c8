"""Longest paths: free transfers, the cheapest links, joins (B1 to B3), joins under contention, all ancestors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.ancestor_balls import far_heads_and_tails
from formulations.dag.heads_and_tails import heads_and_tails, path_bound
from formulations.time_left import without_limit
from instances.dag.contention import Contention
from instances.dag.graph import successor_lists
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.dag.instance import DagInstance


def critical_path(instance: DagInstance, objective: Objective) -> int:
    """Return the longest path from the release of its first task, with the smallest durations over allowed GPUs (B1).

    The tasks of a path run one after the other. Weighted completion: the longest such path that ends in each job,
    weighted and summed. Cost: O(n m + edges) (docs/bounds.md, section 3.1; textbook).
    """
    shortest = np.where(instance.allowed, instance.durations, np.iinfo(np.int64).max)
    duration = shortest.min(axis=1, initial=np.iinfo(np.int64).max).tolist()
    finish = instance.release[instance.job_of_task].tolist()  # the release, then the finish once the task had its turn
    successors = successor_lists(instance.num_tasks, instance.edges)
    for task in instance.topological_order.tolist():
        finish[task] += duration[task]
        for successor in successors[task]:
            finish[successor] = max(finish[successor], finish[task])
    if Objective(objective) is Objective.MAKESPAN:
        return int(max(finish, default=0))
    completion = np.array(instance.release)
    np.maximum.at(completion, instance.job_of_task, np.array(finish, dtype=np.int64))
    return int(instance.weight @ completion)


def transfer_aware_path(instance: DagInstance, objective: Objective) -> int:
    """Return max over i of min over k of (H + p + T) with transfer-aware heads and tails (B2).

    It is never below the critical path. Cost: O(edges m^2) (docs/bounds.md, section 3.2; textbook).
    """
    return path_bound(instance, objective, heads_and_tails(instance, join_aware=False))


def join_aware_path(instance: DagInstance, objective: Objective) -> int:
    """Return max over i of min over k of (H + p + T) with join-aware heads and tails (B3).

    It holds because a GPU runs one task at a time and no task is duplicated, and is never below the transfer-aware
    path. Cost: that of `heads_and_tails` (docs/bounds.md, section 3.3; ours).
    """
    return path_bound(instance, objective, heads_and_tails(instance, join_aware=True))


def nic_aware_path(instance: DagInstance, objective: Objective, contention: Contention = Contention.NIC) -> int:
    """Return max over i of min over k of (H + p + T) with heads and tails that use the rule of contention.

    It holds under `Contention.NIC` only, and is never below the join-aware path, which it is without contention
    (docs/bounds.md, section 3.4; ours).
    """
    return path_bound(instance, objective, heads_and_tails(instance, contention=contention))


def ancestor_aware_path(
    instance: DagInstance, objective: Objective, *, seconds_left: Callable[[], float] = without_limit
) -> int:
    """Return max over i of min over k of (H + p + T) with heads from all ancestors and tails from all descendants.

    It holds because ancestors whose data cannot arrive in time from elsewhere must run on the same GPU, one at a time
    and within its memory, and is never below the join-aware path. Cost: that of `far_heads_and_tails`, at most some
    seconds (docs/bounds.md, section 3.19; ours).
    """
    return path_bound(instance, objective, far_heads_and_tails(instance, seconds_left=seconds_left))
