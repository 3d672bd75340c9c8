"""The optimum of tiny instances by complete enumeration: an oracle that shares no code with any method.

Some optimal schedule places the tasks in order of start (ties: predecessors first), each at the end of its GPU's
queue and as early as it can. So all orders times all GPUs contain an optimum; branches that cost as much as the best
found so far are cut, for neither objective ever falls when a task is added.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from instances.dag.objective import FINISH_OBJECTIVES, Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.dag.instance import DagInstance

NONE = 2**62


def optimum(instance: DagInstance, objective: Objective = Objective.MAKESPAN) -> int | None:
    """Return the optimum, None where no schedule keeps the memory limits."""
    n, m = instance.num_tasks, instance.num_gpus
    if n == 0:
        return 0 if Objective(objective) is Objective.MAKESPAN else int(instance.weight @ instance.release)
    delay = np.zeros((n, n, m, m), dtype=np.int64)
    is_edge = np.zeros((n, n), dtype=np.bool_)
    for edge, (tail, head) in enumerate(instance.edges.tolist()):
        is_edge[tail, head] = True
        data = int(instance.edge_bytes[edge])
        for k in range(m):
            for l in range(m):
                if k != l and data > 0:
                    transfer = math.ceil(data / float(instance.bytes_per_tick[k, l]))
                    delay[tail, head, k, l] = int(instance.latency[k, l]) + transfer
    memory = np.where(instance.gpu_memory < 0, NONE, instance.gpu_memory)
    found = _search(
        np.array(instance.durations),
        delay,
        is_edge,
        np.array(instance.task_memory),
        memory,
        np.array(instance.job_of_task),
        np.array(instance.release),
        np.array(instance.weight),
        Objective(objective) is Objective.WEIGHTED_COMPLETION,
    )
    return None if found == NONE else int(found)


def assert_below_optimum(
    instance: DagInstance,
    weaker: Callable[[DagInstance, Objective], int],
    bound: Callable[[DagInstance, Objective], int],
) -> None:
    """Assert for both objectives that a bound is at least a weaker one, and at most the optimum if there is any."""
    for objective in FINISH_OBJECTIVES:
        best = optimum(instance, objective)
        if best is not None:
            assert weaker(instance, objective) <= bound(instance, objective) <= best


@njit(cache=True)
def _search(durations, delay, is_edge, task_memory, memory, job_of_task, release, weight, weighted):
    """Depth-first search with an explicit stack of choices, one (task, GPU) pair per level.

    Rows are copied number by number, because Numba compiles a copy of a row for seconds.
    """
    n, m = durations.shape
    best = np.int64(NONE)
    placed = np.zeros(n, dtype=np.bool_)
    gpu = np.zeros(n, dtype=np.int64)
    finish = np.zeros(n, dtype=np.int64)
    free = np.zeros((n + 1, m), dtype=np.int64)
    completion = np.zeros((n + 1, len(release)), dtype=np.int64)
    for job in range(len(release)):
        completion[0, job] = release[job]
    largest = np.zeros(n + 1, dtype=np.int64)
    room = memory.copy()
    choice = np.full(n, -1, dtype=np.int64)  # pair (task, GPU) tried at each level, as one number
    made = np.full(n, -1, dtype=np.int64)  # task placed at each level, -1 where the choice was not possible
    level = 0
    while level >= 0:
        if made[level] >= 0:
            placed[made[level]] = False
            room[gpu[made[level]]] += task_memory[made[level]]
            made[level] = -1
        choice[level] += 1
        if choice[level] == n * m:
            choice[level] = -1
            level -= 1
            continue
        task, k = choice[level] // m, choice[level] % m
        if placed[task] or durations[task, k] < 0 or room[k] < task_memory[task]:
            continue
        start, possible = release[job_of_task[task]], True
        for h in range(n):
            if is_edge[h, task]:
                possible = possible and placed[h]
                start = max(start, finish[h] + delay[h, task, gpu[h], k])
        if not possible:
            continue
        if durations[task, k] > 0:
            start = max(start, free[level, k])
        end = start + durations[task, k]
        for other in range(m):
            free[level + 1, other] = free[level, other]
        if durations[task, k] > 0:
            free[level + 1, k] = end
        largest[level + 1] = max(largest[level], end)
        total = 0
        for job in range(len(release)):
            latest = end if job == job_of_task[task] else 0
            completion[level + 1, job] = max(completion[level, job], latest)
            total += completion[level + 1, job] * weight[job]
        cost = total if weighted else largest[level + 1]
        if cost >= best:
            continue
        placed[task], gpu[task], finish[task], made[level] = True, k, end, task
        room[k] -= task_memory[task]
        if level == n - 1:
            best = cost
        else:
            level += 1
    return best
