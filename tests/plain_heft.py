"""HEFT and CPOP once more, in lists and dicts: oracles that share no code with any method; HEFT's is a yardstick too.

Topcuoglu, Hariri and Wu (2002): tasks by upward rank, each on the GPU where it finishes first, in an idle gap where
one is long enough. Ours, as documented at the method: the mean transfer delay is taken over pairs of different GPUs,
the highest rank among the ready tasks goes first, means are over allowed GPUs, and memory is kept for tasks that may
run nowhere else.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.dag.instance import DagInstance


def plain_heft(
    instance: DagInstance, *, reserve: bool = True, is_cpop: bool = False
) -> tuple[list[int], list[int]] | None:
    """Return GPU and start of every task, None where a task fits nowhere.

    Parameters
    ----------
    instance
        What is scheduled.
    reserve
        Whether memory is kept for tasks that may run on one GPU only.
    is_cpop
        Whether priorities are those of CPOP and its critical path is held on one GPU; all pairs must be allowed then.
    """
    num_tasks, num_gpus = instance.num_tasks, instance.num_gpus
    duration = instance.durations.tolist()
    memory = instance.task_memory.tolist()
    capacity = [math.inf if limit < 0 else limit for limit in instance.gpu_memory.tolist()]
    release = [instance.release.tolist()[job] for job in instance.job_of_task.tolist()]
    allowed = [
        [k for k in range(num_gpus) if duration[task][k] >= 0 and memory[task] <= capacity[k]]
        for task in range(num_tasks)
    ]
    edges = [(tail, head) for tail, head in instance.edges.tolist()]
    successors: dict[int, list[int]] = {task: [] for task in range(num_tasks)}
    predecessors: dict[int, list[int]] = {task: [] for task in range(num_tasks)}
    for tail, head in edges:
        successors[tail].append(head)
        predecessors[head].append(tail)
    delay = plain_delays(instance)
    rank = _upward_ranks(num_tasks, num_gpus, duration, allowed, successors, delay)
    if is_cpop:
        back = _upward_ranks(
            num_tasks, num_gpus, duration, allowed, predecessors, lambda tail, head, k, l: delay(head, tail, l, k)
        )
        rank = {task: rank[task] + back[task] - sum(duration[task]) / num_gpus for task in rank}
        path = _critical_path(rank, successors, predecessors)
        one = min(range(num_gpus), key=lambda k: (sum(duration[task][k] for task in path), k))
        for task in path:
            allowed[task] = [one]

    only = {task: allowed[task][0] for task in range(num_tasks) if len(allowed[task]) == 1}
    used = [0] * num_gpus
    reserved = [sum(memory[task] for task in only if only[task] == k) if reserve else 0 for k in range(num_gpus)]
    busy: list[list[tuple[int, int]]] = [[] for _ in range(num_gpus)]
    gpu, start, finish = [-1] * num_tasks, [0] * num_tasks, [0] * num_tasks
    waiting_for = {task: len(predecessors[task]) for task in range(num_tasks)}
    ready = [task for task in range(num_tasks) if waiting_for[task] == 0]
    while ready:
        task = min(ready, key=lambda task: (-rank[task], task))
        ready.remove(task)
        best: tuple[int, int, int] | None = None  # (finish, GPU, start)
        for k in allowed[task]:
            kept = reserved[k] - (memory[task] if reserve and only.get(task) == k else 0)
            if used[k] + memory[task] + kept > capacity[k]:
                continue
            earliest = release[task]
            for before in predecessors[task]:
                earliest = max(earliest, finish[before] + delay(before, task, gpu[before], k))
            begin = _first_gap(busy[k], earliest, duration[task][k])
            if best is None or (begin + duration[task][k], k) < best[:2]:
                best = (begin + duration[task][k], k, begin)
        if best is None:
            return None
        finish[task], gpu[task], start[task] = best
        used[gpu[task]] += memory[task]
        if reserve and task in only:
            reserved[only[task]] -= memory[task]
        if finish[task] > start[task]:
            busy[gpu[task]].append((start[task], finish[task]))
            busy[gpu[task]].sort()
        for after in successors[task]:
            waiting_for[after] -= 1
            if waiting_for[after] == 0:
                ready.append(after)
    return gpu, start


def _critical_path(
    rank: dict[int, float], successors: dict[int, list[int]], predecessors: dict[int, list[int]]
) -> list[int]:
    """Return the path of equal priority from an entry to an exit; priorities that differ by rounding are equal."""
    path = [min((task for task in rank if not predecessors[task]), key=lambda task: (-round(rank[task], 6), task))]
    while successors[path[-1]]:
        path.append(min(successors[path[-1]], key=lambda task: (-round(rank[task], 6), task)))
    return path


def plain_delays(instance: DagInstance) -> Callable[[int, int, int, int], int]:
    """Return a function of tail, head and their GPUs that gives the transfer delay."""
    latency, bytes_per_tick = instance.latency.tolist(), instance.bytes_per_tick.tolist()
    data = {(tail, head): size for (tail, head), size in zip(instance.edges.tolist(), instance.edge_bytes.tolist())}

    def delay(tail: int, head: int, k: int, l: int) -> int:
        size = data[tail, head]
        if k == l or size == 0:
            return 0
        return int(latency[k][l]) + math.ceil(size / bytes_per_tick[k][l])

    return delay


def _upward_ranks(
    num_tasks: int,
    num_gpus: int,
    duration: list[list[int]],
    allowed: list[list[int]],
    successors: dict[int, list[int]],
    delay: Callable[[int, int, int, int], int],
) -> dict[int, float]:
    """Return the upward rank of every task."""
    links = [(k, l) for k in range(num_gpus) for l in range(num_gpus) if k != l]
    rank: dict[int, float] = {}

    def mean_delay(tail: int, head: int) -> float:
        return sum(delay(tail, head, k, l) for k, l in links) / len(links) if links else 0.0

    unfinished = list(range(num_tasks))
    while unfinished:
        for task in list(unfinished):
            if all(after in rank for after in successors[task]):
                way = max((mean_delay(task, after) + rank[after] for after in successors[task]), default=0.0)
                rank[task] = sum(duration[task][k] for k in allowed[task]) / len(allowed[task]) + way
                unfinished.remove(task)
    return rank


def _first_gap(busy: list[tuple[int, int]], earliest: int, length: int) -> int:
    """Return the first time from `earliest` on at which so many ticks are idle; no ticks are idle everywhere."""
    begin = earliest
    for from_tick, to_tick in busy:
        if length == 0 or begin + length <= from_tick:
            break
        begin = max(begin, to_tick)
    return begin
