"""The decoder of random keys once more, in lists and loops: an oracle, and the yardstick of a benchmark."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.priorities import optimistic_costs
from tests.plain_heft import plain_delays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.dag.instance import DagInstance


class PlainKeys:
    """Decodes keys for the makespan as `RandomKeys` says.

    Parameters
    ----------
    instance
        What is scheduled.
    decoding
        "ranked", "eft", "direct" or "look-ahead".
    tabulated
        Whether all transfer delays are computed beforehand, else each where it is needed.
    """

    def __init__(self, instance: DagInstance, decoding: str = "ranked", *, tabulated: bool = False) -> None:
        self.num_tasks, self.num_gpus = instance.num_tasks, instance.num_gpus
        self.decoding = decoding
        self.duration = instance.durations.tolist()
        self.memory = instance.task_memory.tolist()
        self.capacity = [math.inf if limit < 0 else limit for limit in instance.gpu_memory.tolist()]
        self.release = [instance.release.tolist()[job] for job in instance.job_of_task.tolist()]
        gpus = range(self.num_gpus)
        self.allowed = [
            [k for k in gpus if self.duration[task][k] >= 0 and self.memory[task] <= self.capacity[k]]
            for task in range(self.num_tasks)
        ]
        self.only = [allowed[0] if len(allowed) == 1 else -1 for allowed in self.allowed]
        self.predecessors: list[list[int]] = [[] for _ in range(self.num_tasks)]
        self.successors: list[list[int]] = [[] for _ in range(self.num_tasks)]
        self.delay = plain_delays(instance)
        for tail, head in instance.edges.tolist():
            self.successors[tail].append(head)
            self.predecessors[head].append(tail)
        self.ahead = optimistic_costs(dag_arrays(instance)).tolist()
        if tabulated:
            delay, edges = self.delay, instance.edges.tolist()
            table = {(h, i): [[delay(h, i, k, l) for l in gpus] for k in gpus] for h, i in edges}
            self.delay = lambda h, i, k, l: table[h, i][k][l]

    def evaluate(self, keys: Sequence[float]) -> tuple[int, int]:
        """Return (overflow bytes, makespan)."""
        num_tasks, num_gpus, memory = self.num_tasks, self.num_gpus, self.memory
        used, reserved = [0] * num_gpus, [0] * num_gpus
        for task, k in enumerate(self.only):
            if k >= 0:
                reserved[k] += memory[task]
        busy: list[list[tuple[int, int]]] = [[] for _ in range(num_gpus)]
        gpu, finish = [-1] * num_tasks, [0] * num_tasks
        waiting_for = [len(before) for before in self.predecessors]
        ready = [(-keys[task], task) for task in range(num_tasks) if waiting_for[task] == 0]
        heapq.heapify(ready)
        while ready:
            _, task = heapq.heappop(ready)
            room, starts = {}, {}
            for k in self.allowed[task]:
                kept = reserved[k] - (memory[task] if self.only[task] == k else 0)
                room[k] = self.capacity[k] - used[k] - kept - memory[task]
                earliest = self.release[task]
                for before in self.predecessors[task]:
                    earliest = max(earliest, finish[before] + self.delay(before, task, gpu[before], k))
                starts[k] = _first_gap(busy[k], earliest, self.duration[task][k])
            k = self._choose(task, keys, [k for k in room if room[k] >= 0], starts)
            if k < 0:
                k = max(room, key=lambda k: (room[k], -k))
            gpu[task], finish[task] = k, starts[k] + self.duration[task][k]
            used[k] += memory[task]
            if self.only[task] == k:
                reserved[k] -= memory[task]
            if self.duration[task][k]:
                busy[k].append((starts[k], finish[task]))
                busy[k].sort()
            for after in self.successors[task]:
                waiting_for[after] -= 1
                if waiting_for[after] == 0:
                    heapq.heappush(ready, (-keys[after], after))
        overflow = sum(max(0, bytes_used - limit) for bytes_used, limit in zip(used, self.capacity, strict=True))
        return int(overflow), max(finish, default=0)

    def _choose(self, task: int, keys: Sequence[float], fitting: list[int], starts: dict[int, int]) -> int:
        """Return the GPU that the rule takes among those that fit, -1 where none does."""
        if not fitting:
            return -1
        ranked = sorted(fitting, key=lambda k: (starts[k] + self.duration[task][k], k))
        if self.decoding == "eft":
            return ranked[0]
        if self.decoding == "look-ahead":
            weight = (0.0, 0.5, 1.0)[min(2, int(3 * keys[-1]))]
            return min(fitting, key=lambda k: (starts[k] + self.duration[task][k] + weight * self.ahead[task][k], k))
        u = keys[self.num_tasks + task]
        if self.decoding == "ranked":
            return ranked[min(len(ranked) - 1, math.floor(len(ranked) * u * u))]
        allowed = self.allowed[task]
        desired = allowed[min(len(allowed) - 1, math.floor(len(allowed) * u))]
        return desired if desired in fitting else ranked[0]


def _first_gap(busy: list[tuple[int, int]], earliest: int, length: int) -> int:
    """Return the first time from `earliest` on at which so many ticks are idle; no ticks are idle everywhere."""
    begin = earliest
    for from_tick, to_tick in busy:
        if length == 0 or begin + length <= from_tick:
            break
        begin = max(begin, to_tick)
    return begin
