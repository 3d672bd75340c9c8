"""The optimum of tiny instances whose transfers share network interfaces, by complete enumeration: an oracle.

For every placement the tasks and the transfers between servers are activities: a task needs its GPU, a transfer the
outgoing side of one server and the incoming side of another. Some optimal schedule delays nothing without need; taking
its activities in order of start (ties: what is needed first), each at the end of the queues of what it needs and as
early as it can, gives exactly that schedule. So all placements times all orders in which starts never fall contain an
optimum. Branches that cost as much as the best found so far are cut. No code is shared with any method.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from instances.dag.objective import Objective

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance

NONE = 2**62


def optimum_with_nics(instance: DagInstance, objective: Objective = Objective.MAKESPAN) -> int | None:
    """Return the optimum under contention for network interfaces, None where no schedule keeps the memory limits."""
    n, m = instance.num_tasks, instance.num_gpus
    names = sorted(set(instance.gpu_servers))
    server = np.array([names.index(name) for name in instance.gpu_servers], dtype=np.int64)
    durations, edges = np.array(instance.durations), np.array(instance.edges).reshape(-1, 2)
    memory = [NONE if limit < 0 else limit for limit in instance.gpu_memory.tolist()]
    choices = [[k for k in range(m) if durations[task, k] >= 0] for task in range(n)]
    best = NONE
    for placement in itertools.product(*choices):
        used = [0] * m
        for task, k in enumerate(placement):
            used[k] += int(instance.task_memory[task])
        if any(bytes_used > limit for bytes_used, limit in zip(used, memory, strict=True)):
            continue
        gpu = np.array(placement, dtype=np.int64)
        delay = np.zeros(len(edges), dtype=np.int64)
        for edge, (tail, head) in enumerate(edges.tolist()):
            k, l, data = placement[tail], placement[head], int(instance.edge_bytes[edge])
            if k != l and data > 0:
                delay[edge] = int(instance.latency[k, l]) + math.ceil(data / float(instance.bytes_per_tick[k, l]))
        best = _best_order(
            gpu,
            server,
            durations[np.arange(n), gpu],
            edges,
            delay,
            np.array(instance.job_of_task),
            np.array(instance.release),
            np.array(instance.weight),
            Objective(objective) is Objective.WEIGHTED_COMPLETION,
            best,
        )
    return None if best == NONE else int(best)


@njit(cache=True)
def _best_order(gpu, server, duration, edges, delay, job_of_task, release, weight, weighted, best):
    """Return the smaller of `best` and the least cost over all orders: depth-first, one activity per level."""
    n, num_edges, m = len(gpu), len(edges), len(server)
    contended = np.zeros(num_edges, dtype=np.bool_)
    for e in range(num_edges):
        contended[e] = delay[e] > 0 and server[gpu[edges[e, 0]]] != server[gpu[edges[e, 1]]]
    total = n + contended.sum()
    # Queue ends of GPUs, outgoing sides and incoming sides (there are at most m servers), per level.
    free = np.zeros((total + 1, 3, m), dtype=np.int64)
    completion = np.zeros((total + 1, len(release)), dtype=np.int64)
    for job in range(len(release)):
        completion[0, job] = release[job]
    largest = np.zeros(total + 1, dtype=np.int64)
    latest = np.zeros(total + 1, dtype=np.int64)  # start of the activity before
    least = 0
    for job in range(len(release)):
        least += release[job] * weight[job]
    if total == 0:
        return min(best, least) if weighted else min(best, 0)
    done = np.zeros(n + num_edges, dtype=np.bool_)
    end = np.zeros(n + num_edges, dtype=np.int64)
    choice = np.full(total, -1, dtype=np.int64)
    made = np.full(total, -1, dtype=np.int64)
    level = 0
    while level >= 0:
        if made[level] >= 0:
            done[made[level]] = False
            made[level] = -1
        choice[level] += 1
        if choice[level] == n + num_edges:
            choice[level] = -1
            level -= 1
            continue
        activity = choice[level]
        if done[activity]:
            continue
        possible = True
        if activity < n:
            start = release[job_of_task[activity]]
            for e in range(num_edges):
                if edges[e, 1] == activity:
                    before = n + e if contended[e] else edges[e, 0]
                    possible = possible and done[before]
                    start = max(start, end[before] + (0 if contended[e] else delay[e]))
            length = duration[activity]
            if length > 0:
                start = max(start, free[level, 0, gpu[activity]])
        else:
            e = activity - n
            if not contended[e]:
                continue
            tail, head = edges[e]
            possible, length = done[tail], delay[e]
            start = max(end[tail], free[level, 1, server[gpu[tail]]], free[level, 2, server[gpu[head]]])
        if not possible or start < latest[level]:
            continue
        for k in range(m):
            for queue in range(3):
                free[level + 1, queue, k] = free[level, queue, k]
        largest[level + 1], latest[level + 1] = largest[level], start
        stop = start + length
        if activity < n:
            if length > 0:
                free[level + 1, 0, gpu[activity]] = stop
            largest[level + 1] = max(largest[level], stop)
        else:
            free[level + 1, 1, server[gpu[tail]]] = stop
            free[level + 1, 2, server[gpu[head]]] = stop
        total_completion = 0
        for job in range(len(release)):
            is_longer = activity < n and job == job_of_task[activity]
            completion[level + 1, job] = max(completion[level, job], stop if is_longer else 0)
            total_completion += completion[level + 1, job] * weight[job]
        cost = total_completion if weighted else largest[level + 1]
        if cost >= best:
            continue
        done[activity], end[activity], made[level] = True, stop, activity
        if level == total - 1:
            best = cost
        else:
            level += 1
    return best
