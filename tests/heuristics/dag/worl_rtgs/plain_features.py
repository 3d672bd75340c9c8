"""The features once more, in lists and loops straight from their table: an oracle that shares no code with them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.dag.instance import DagInstance


@dataclass
class Step:
    """One step: the GPUs to choose from, their features, and the reward of the GPU that was chosen."""

    task: int
    rows: dict[int, list[float]] = field(default_factory=dict)
    reward: float = 0.0


def plain_steps(
    instance: DagInstance, objective: Objective, gpu: Sequence[int], wish: Sequence[float], lam: float
) -> list[Step]:
    """Return every step of placing the tasks in rank order on the given GPUs."""
    tasks, gpus = range(instance.num_tasks), range(instance.num_gpus)
    p, memory, limit = instance.durations.tolist(), instance.task_memory.tolist(), instance.gpu_memory.tolist()
    weight, job = instance.weight.tolist(), instance.job_of_task.tolist()
    release = [instance.release.tolist()[job[i]] for i in tasks]
    allowed = [[k for k in gpus if p[i][k] >= 0 and (limit[k] < 0 or memory[i] <= limit[k])] for i in tasks]
    c = {(h, i): instance.transfer_delays(edge).tolist() for edge, (h, i) in enumerate(instance.edges.tolist())}
    mean = [sum(p[i][k] for k in allowed[i]) / len(allowed[i]) for i in tasks]
    pairs = [(k, l) for k in gpus for l in gpus if k != l]

    rank, onward, head = [0.0] * len(tasks), [[0] * len(gpus) for _ in tasks], [0] * len(tasks)
    for i in reversed(instance.topological_order.tolist()):
        for h, s in c:
            if h == i:
                delay = sum(c[h, s][k][l] for k, l in pairs) / len(pairs) if pairs else 0.0
                rank[i] = max(rank[i], delay + rank[s])
                for k in gpus:
                    ways = [onward[s][l] + p[s][l] + c[h, s][k][l] for l in allowed[s]]
                    onward[i][k] = max(onward[i][k], min(ways))
        rank[i] += mean[i]
    shortest = [min(p[i][k] for k in allowed[i]) for i in tasks]
    for i in instance.topological_order.tolist():
        head[i] = max([release[i]] + [head[h] + shortest[h] for h, s in c if s == i])
    longest = max(1, math.ceil(sum(shortest) / len(gpus)), *(head[i] + shortest[i] for i in tasks))
    bound = longest
    if objective is Objective.WEIGHTED_COMPLETION:
        ends = list(instance.release.tolist())
        for i in tasks:
            ends[job[i]] = max(ends[job[i]], head[i] + shortest[i])
        bound = max(1, sum(w * end for w, end in zip(weight, ends, strict=True)))

    finish: dict[int, int] = {}
    busy: list[list[tuple[int, int]]] = [[] for _ in gpus]
    steps = []
    while len(finish) < len(tasks):
        waiting = [i for i in tasks if i not in finish and all(h in finish for h, s in c if s == i)]
        i = max(waiting, key=lambda i: (rank[i], -i))
        ready = [max([release[i]] + [finish[h] + c[h, s][gpu[h]][k] for h, s in c if s == i]) for k in gpus]
        room = []
        for k in gpus:
            others = [s for s in tasks if s not in finish and s != i and allowed[s] == [k]]
            used = sum(memory[h] for h in finish if gpu[h] == k)
            room.append(math.inf if limit[k] < 0 else limit[k] - used - memory[i] - sum(memory[s] for s in others))
        fits = [k for k in allowed[i] if room[k] >= 0]
        dead_end = not fits
        if dead_end:
            fits = [max(allowed[i], key=lambda k: (room[k], -k))]
        start = {k: _earliest(sorted(busy[k]), ready[k], p[i][k]) for k in fits}
        end = {k: start[k] + p[i][k] for k in fits}
        unit = max(1.0, mean[i])
        step = Step(i)
        for k in fits:
            load = sum(finish - begin for begin, finish in busy[k])
            delay = max([0] + [c[h, s][gpu[h]][k] for h, s in c if s == i])
            used = sum(memory[h] for h in finish if gpu[h] == k)
            step.rows[k] = [
                _sq((wish[i] - load - p[i][k]) / unit) if lam else 0.0,
                lam,
                _quotient(p[i][k], max(p[i][l] for l in allowed[i]), 1.0),
                _sq((ready[k] - min(ready[l] for l in fits)) / unit),
                _sq((max((finish for _, finish in busy[k]), default=0) - ready[k]) / unit),
                _sq((end[k] - min(end.values())) / unit),
                _quotient(rank[i], max(rank), 1.0),
                1.0 if limit[k] < 0 else _quotient(limit[k] - used - memory[i], limit[k], 0.0),
                _quotient(delay, delay + p[i][k], 0.0),
                _sq(4 * ((end[k] + rank[i] - mean[i]) / longest - 1)),
                len(finish) / len(tasks),
                _sq((end[k] + onward[i][k] - min(end[l] + onward[i][l] for l in fits)) / unit),
            ]
        before = _partial(finish, job, weight, objective)
        finish[i] = end[gpu[i]]
        if p[i][gpu[i]] > 0:
            busy[gpu[i]].append((start[gpu[i]], finish[i]))
        after = _partial(finish, job, weight, objective)
        step.reward = (before - after) / bound - lam / len(tasks) * abs(step.rows[gpu[i]][0]) - dead_end
        steps.append(step)
    return steps


def _earliest(busy: list[tuple[int, int]], ready: int, duration: int) -> int:
    """Return the first start not before ready in a gap that is long enough."""
    if duration == 0:
        return ready
    return min(
        start
        for start in [ready] + [max(ready, finish) for _, finish in busy]
        if all(start + duration <= begin or start >= finish for begin, finish in busy)
    )


def _partial(finish: dict[int, int], job: list[int], weight: list[int], objective: Objective) -> int:
    """Return the objective of the tasks placed so far."""
    if objective is Objective.MAKESPAN:
        return max(finish.values(), default=0)
    return sum(weight[j] * max((finish[i] for i in finish if job[i] == j), default=0) for j in set(job))


def _sq(value: float) -> float:
    """Return z / (1 + |z|)."""
    return value / (1 + abs(value))


def _quotient(value: float, by: float, otherwise: float) -> float:
    """Return the quotient, or what stands for one by 0."""
    return value / by if by else otherwise
