"""RTGS once more, in loops and lists: an oracle for every placement that the population makes, with the same draws."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heuristics.dag.rtgs.population import draw_round
from instances.dag.objective import Objective
from tests.plain_heft import plain_delays

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.dag.instance import DagInstance


class PlainWhale(NamedTuple):
    """A placement with its times and positions."""

    gpu: list[int]
    overflow: int
    objective: int
    final: list[int]
    running: list[int]


def plain_place(
    instance: DagInstance,
    order: list[int],
    insertion: bool,
    pick: Callable[[int, list[int], list[int]], int],
    objective: Objective = Objective.MAKESPAN,
) -> PlainWhale:
    """Place all tasks; `pick` chooses from task, GPUs that fit (one at least) and loads so far."""
    num_tasks, num_gpus = instance.num_tasks, instance.num_gpus
    duration, memory = instance.durations.tolist(), instance.task_memory.tolist()
    capacity = [math.inf if limit < 0 else limit for limit in instance.gpu_memory.tolist()]
    job, release = instance.job_of_task.tolist(), instance.release.tolist()
    allowed = [
        [k for k in range(num_gpus) if duration[task][k] >= 0 and memory[task] <= capacity[k]]
        for task in range(num_tasks)
    ]
    delay, edges = plain_delays(instance), instance.edges.tolist()
    busy: list[list[tuple[int, int]]] = [[] for _ in range(num_gpus)]
    gpu, finish, load = [-1] * num_tasks, [0] * num_tasks, [0] * num_gpus
    running = [0] * num_tasks
    for task in order:
        room = []
        for k in range(num_gpus):
            used = sum(memory[other] for other in range(num_tasks) if gpu[other] == k)
            kept = sum(memory[o] for o in range(num_tasks) if o != task and gpu[o] < 0 and allowed[o] == [k])
            room.append(capacity[k] - used - kept - memory[task])
        fits = [k for k in allowed[task] if room[k] >= 0]
        k = pick(task, fits, load) if fits else max(allowed[task], key=lambda k: (room[k], -k))
        begin = release[job[task]]
        for tail, head in edges:
            if head == task:
                begin = max(begin, finish[tail] + delay(tail, task, gpu[tail], k))
        ticks = duration[task][k]
        if ticks:
            if insertion:
                for slot_start, slot_finish in sorted(busy[k]):
                    if begin + ticks <= slot_start:
                        break
                    begin = max(begin, slot_finish)
            else:
                begin = max([begin, *(slot_finish for _, slot_finish in busy[k])])
            busy[k].append((begin, begin + ticks))
        gpu[task], finish[task] = k, begin + ticks
        load[k] += ticks
        running[task] = load[k]
    overflow = sum(
        max(0, sum(memory[task] for task in range(num_tasks) if gpu[task] == k) - capacity[k])
        for k in range(num_gpus)
        if capacity[k] < math.inf
    )
    if objective is Objective.MAKESPAN:
        value = max(finish, default=0)
    else:
        last = [max([release[j], *(finish[i] for i in range(num_tasks) if job[i] == j)]) for j in range(len(release))]
        value = sum(weight * when for weight, when in zip(instance.weight.tolist(), last, strict=True))
    return PlainWhale(gpu, int(overflow), value, [load[k] for k in gpu], running)


def plain_load_pick(instance: DagInstance, wish: list[float]) -> Callable[[int, list[int], list[int]], int]:
    """Return how Algorithm C picks: nearest load, ties to the lowest GPU."""
    duration = instance.durations.tolist()

    def pick(task: int, fits: list[int], load: list[int]) -> int:
        return min(fits, key=lambda k: (abs(wish[task] - (load[k] + duration[task][k])), k))

    return pick


def plain_rtgs(
    instance: DagInstance,
    seed: int,
    evaluations: int,
    *,
    order: list[int],
    population: int,
    insertion: bool,
    wish: str,
    spiral: float = 1.0,
    objective: Objective = Objective.MAKESPAN,
) -> list[PlainWhale]:
    """Return all placements of a run in the order of evaluation, without HEFT's."""
    rng, n = np.random.default_rng(seed), instance.num_tasks
    whales = []
    for keys in rng.random((population, n)).tolist():

        def uniform(task: int, fits: list[int], load: list[int], keys: list[float] = keys) -> int:
            return fits[math.floor(len(fits) * keys[task])]

        whales.append(plain_place(instance, order, insertion, uniform, objective))
    made = list(whales)
    while len(made) < evaluations:
        a = 2 * (1 - len(made) / evaluations)
        draws = draw_round(rng, population, n)
        leader = min(range(population), key=lambda index: (whales[index].overflow, whales[index].objective, index))
        movers = [index for index in range(population) if index != leader]
        children = []
        for row, mover in enumerate(movers):
            step = 2 * a * draws.r1[row] - a
            others = [index for index in movers if index != mover] or [leader]
            target = whales[leader if abs(step) < 1 else others[draws.other[row]]]
            z, x = (whale.final if wish == "final_load" else whale.running for whale in (target, whales[mover]))
            desired = []
            for task in range(n):
                way = step
                if abs(step) < 1 and draws.p[row] > 0.5:
                    l = draws.l[row, task]
                    way = math.exp(spiral * l) * math.cos(2 * math.pi * l)
                desired.append(z[task] + draws.sign[row, task] * way * (z[task] - x[task]))
            children.append(plain_place(instance, order, insertion, plain_load_pick(instance, desired), objective))
        made += children
        whales = [whales[leader], *children]
    return made[:evaluations]
