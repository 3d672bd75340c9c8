"""The optimum of tiny instances with buffers and groups by branching: an oracle that shares no code with any method.

For every placement a node is a set of pairs (a, b): b starts when a has finished. Its earliest starts are the best of
all schedules that keep the pairs, for each objective that no later start can improve. Where two tasks overlap, one of
them is first; where live buffers do not fit at a tick, two of them are never live together, for intervals of which each
two meet have a tick in common, so that one is released before the other begins. A stage span T adds pairs from finishes
to starts on one GPU, T earlier. Owners of buffers take at least a tick.
"""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import TYPE_CHECKING

from instances.dag.objective import Objective

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance

FAR = 10**6


def buffered_optimum(instance: DagInstance, objective: Objective = Objective.MAKESPAN) -> int | None:
    """Return the optimum, None where no schedule exists."""
    best: int | None = None
    for gpu in product(*(range(instance.num_gpus) for _ in range(instance.num_tasks))):
        if _is_allowed(instance, gpu):
            search = _Search(instance, gpu, Objective(objective))
            best = search.best(best)
    return best


def _is_allowed(instance: DagInstance, gpu: tuple[int, ...]) -> bool:
    """Say whether tasks may be there, groups stay together, and the tasks' own memory fits."""
    groups = instance.group_of_task.tolist()
    if any(instance.durations[task, k] < 0 for task, k in enumerate(gpu)):
        return False
    if any(groups[a] == groups[b] >= 0 and gpu[a] != gpu[b] for a in range(len(gpu)) for b in range(a)):
        return False
    used = [sum(int(instance.task_memory[task]) for task, k in enumerate(gpu) if k == l) for l in set(gpu)]
    limits = [int(instance.gpu_memory[l]) for l in set(gpu)]
    return all(limit < 0 or size <= limit for size, limit in zip(used, limits, strict=True))


class _Search:
    """One placement."""

    def __init__(self, instance: DagInstance, gpu: tuple[int, ...], objective: Objective) -> None:
        self.instance, self.gpu, self.objective = instance, gpu, objective
        n = instance.num_tasks
        self.ticks = [int(instance.durations[task, k]) for task, k in enumerate(gpu)]
        self.release = [int(instance.release[instance.job_of_task[task]]) for task in range(n)]
        self.arcs: list[tuple[int, int, int]] = []
        for edge, (tail, head) in enumerate(instance.edges.tolist()):
            data, delay = int(instance.edge_bytes[edge]), 0
            if data and gpu[tail] != gpu[head]:
                speed = float(instance.bytes_per_tick[gpu[tail], gpu[head]])
                delay = int(instance.latency[gpu[tail], gpu[head]]) + math.ceil(data / speed)
            self.arcs.append((tail, head, self.ticks[tail] + delay))
        self.limit: int | None = None

    def best(self, known: int | None) -> int | None:
        """Return the smaller of a known objective and the best of this placement."""
        n = self.instance.num_tasks
        if n == 0:
            return 0 if self.objective is not Objective.WEIGHTED_COMPLETION else self.value([])
        if self.objective is not Objective.STAGE_SPAN:
            self.limit = known
            self.branch([])
            return self.limit
        low = max(sum(self.ticks[t] for t in range(n) if self.gpu[t] == k) for k in set(self.gpu))
        high = known if known is not None else FAR
        base = list(self.arcs)
        while low < high:  # the least span that is possible
            span = (low + high) // 2
            pairs = [(a, b) for a in range(n) for b in range(n) if a != b and self.gpu[a] == self.gpu[b]]
            self.arcs = base + [(a, b, self.ticks[a] - span) for a, b in pairs]
            self.limit = None
            possible = self.branch([]) if max(self.ticks, default=0) <= span else False
            low, high = (low, span) if possible else (span + 1, high)
        if known is None:
            return None if low == FAR else low
        return min(low, known)

    def value(self, start: list[int]) -> int:
        """Return makespan or weighted completion."""
        finish = [begin + ticks for begin, ticks in zip(start, self.ticks, strict=False)]
        if self.objective is not Objective.WEIGHTED_COMPLETION:
            return max(finish)
        completion = self.instance.release.tolist()
        for task, end in enumerate(finish):
            job = int(self.instance.job_of_task[task])
            completion[job] = max(completion[job], end)
        return sum(w * c for w, c in zip(self.instance.weight.tolist(), completion, strict=True))

    def branch(self, pairs: list[tuple[int, int]]) -> bool:
        """Search below a node; say whether any schedule was found, and for a span stop there."""
        start = self.earliest(pairs)
        if start is None:
            return False
        is_span = self.objective is Objective.STAGE_SPAN
        if not is_span and self.limit is not None and self.value(start) >= self.limit:
            return False
        choices = self.conflict(start)
        if choices is None:
            self.limit = None if is_span else self.value(start)
            return True
        found = False
        for more in choices:
            found = self.branch([*pairs, *more]) or found
            if found and is_span:
                return True
        return found

    def earliest(self, pairs: list[tuple[int, int]]) -> list[int] | None:
        """Return the earliest starts that keep all arcs and pairs; None where they go round in a circle."""
        start = list(self.release)
        arcs = self.arcs + [(a, b, self.ticks[a]) for a, b in pairs]
        for _ in range(len(start) + 2):
            changed = False
            for a, b, ticks in arcs:
                if start[a] + ticks > start[b]:
                    start[b], changed = start[a] + ticks, True
            if not changed:
                return start
        return None

    def conflict(self, start: list[int]) -> list[list[tuple[int, int]]] | None:
        """Return the ways to settle a first conflict of a schedule, None where there is none."""
        n, gpu, ticks = self.instance.num_tasks, self.gpu, self.ticks
        for a in range(n):
            for b in range(a):
                is_apart = gpu[a] != gpu[b] or not ticks[a] or not ticks[b]
                if not is_apart and start[a] < start[b] + ticks[b] and start[b] < start[a] + ticks[a]:
                    return [[(a, b)], [(b, a)]]
        buffers = [buffer for buffer in self.instance.buffers if buffer.size > 0]
        ends = [max(start[task] + ticks[task] for task in buffer.released_by) for buffer in buffers]
        for k in set(gpu):
            limit = int(self.instance.gpu_memory[k])
            if limit < 0:
                continue
            held = sum(int(self.instance.task_memory[task]) for task in range(n) if gpu[task] == k)
            mine = [number for number, buffer in enumerate(buffers) if gpu[buffer.task] == k]
            for number in mine:
                tick = start[buffers[number].task]
                live = [other for other in mine if start[buffers[other].task] <= tick < ends[other]]
                if held + sum(buffers[other].size for other in live) > limit:
                    return [
                        [(r, buffers[second].task) for r in buffers[first].released_by]
                        for first, second in permutations(live, 2)
                        if buffers[second].task not in buffers[first].released_by
                    ]
        return None
