"""ETF, min-min and max-min once more, by looking at every ready task and every GPU in every step: an oracle.

It shares no code with any method. Published rules: Hwang, Chow, Anger and Lee (1989) for ETF, Ibarra and Kim (1977)
for the other two; ties, memory and releases as documented at the methods. No insertion.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tests.plain_heft import plain_delays

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance


def plain_dynamic_list(instance: DagInstance, rule: str) -> tuple[list[int], list[int]] | None:
    """Return GPU and start of every task, None where a task fits nowhere.

    Parameters
    ----------
    instance
        What is scheduled.
    rule
        "etf": the pair that starts first; "min-min" and "max-min": the task whose best finish is smallest or largest.
    """
    tasks, gpus = range(instance.num_tasks), range(instance.num_gpus)
    duration, memory = instance.durations.tolist(), instance.task_memory.tolist()
    capacity = [math.inf if limit < 0 else limit for limit in instance.gpu_memory.tolist()]
    allowed = [[k for k in gpus if duration[task][k] >= 0 and memory[task] <= capacity[k]] for task in tasks]
    predecessors = {task: [tail for tail, head in instance.edges.tolist() if head == task] for task in tasks}
    delay = plain_delays(instance)
    level = _levels(instance, allowed)
    gpu: dict[int, int] = {}
    start: dict[int, int] = {}
    finish: dict[int, int] = {}
    while len(gpu) < len(tasks):
        candidates = []
        for task in tasks:
            if task in gpu or any(before not in gpu for before in predecessors[task]):
                continue
            choices = []
            for k in allowed[task]:
                kept = sum(
                    memory[other] for other in tasks if other != task and other not in gpu and allowed[other] == [k]
                )
                if sum(memory[other] for other in gpu if gpu[other] == k) + memory[task] + kept > capacity[k]:
                    continue
                begin = int(instance.release[instance.job_of_task[task]])
                for before in predecessors[task]:
                    begin = max(begin, finish[before] + delay(before, task, gpu[before], k))
                if duration[task][k] > 0:
                    last = max(
                        (finish[other] for other in gpu if gpu[other] == k and finish[other] > start[other]), default=0
                    )
                    begin = max(begin, last)
                end = begin + duration[task][k]
                choices.append((begin, end, k) if rule == "etf" else (end, begin, k))
            if not choices:
                return None
            first, second, k = min(choices)
            begin = first if rule == "etf" else second
            preferred = {"etf": begin, "min-min": first, "max-min": -first}[rule]
            order = (preferred, -level[task] if rule == "etf" else 0.0, task)
            candidates.append((order, task, k, begin))
        _, task, k, begin = min(candidates)
        gpu[task], start[task], finish[task] = k, begin, begin + duration[task][k]
    return [gpu[task] for task in tasks], [start[task] for task in tasks]


def _levels(instance: DagInstance, allowed: list[list[int]]) -> dict[int, float]:
    """Return the longest way to the end in mean durations, without transfers."""
    level: dict[int, float] = {}
    for task in reversed(instance.topological_order.tolist()):
        own = sum(int(instance.durations[task, k]) for k in allowed[task]) / len(allowed[task])
        level[task] = own + max((level[head] for tail, head in instance.edges.tolist() if tail == task), default=0.0)
    return level
