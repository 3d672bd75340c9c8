"""The whale optimisation algorithm as one writes it with DEAP: lists, a loop over whales, a plain-Python decoder."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from deap import base, creator, tools

from heuristics.dag.random_keys import RandomKeys
from instances.dag.objective import Objective
from tests.plain_keys import PlainKeys

if TYPE_CHECKING:
    import numpy as np

    from instances.dag.instance import DagInstance

creator.create("PlainFitness", base.Fitness, weights=(-1, -1))
creator.create("PlainWhale", list, fitness=creator.PlainFitness)


def plain_woa(
    instance: DagInstance, rng: np.random.Generator, *, population: int, rounds: int, tabulated: bool
) -> list[int]:
    """Return the makespan of every whale in order, of the method `woa` with its defaults.

    Parameters
    ----------
    instance
        What is scheduled, without memory limits.
    rng
        Source of all random numbers, drawn in the order of `woa`.
    population, rounds
        H and T: H (T + 1) evaluations.
    tabulated
        As in `PlainKeys`.
    """
    decoder, dimension = PlainKeys(instance, tabulated=tabulated), 2 * instance.num_tasks
    first = RandomKeys(instance, Objective.MAKESPAN).heft_keys().tolist()

    def make_population(n: int) -> list[Any]:
        return [creator.PlainWhale(first)] + [creator.PlainWhale(rng.random(dimension).tolist()) for _ in range(n - 1)]

    def update(whale: list[float], index: int, leader: list[float], snapshot: list[list[float]], a: float) -> None:
        r1, r2, p, u = rng.random(4).tolist()
        l, other = 2.0 * u - 1.0, int(rng.integers(len(snapshot) - 1))
        random_whale = snapshot[other if other < index else other + 1]
        step, pull = 2 * a * r1 - a, 2 * r2
        reach, turn = math.exp(l), math.cos(2 * math.pi * l)
        target = leader if abs(step) < 1 else random_whale
        for j, x in enumerate(snapshot[index]):
            if p >= 0.5:
                to = abs(leader[j] - x) * reach * turn + leader[j]
            else:
                to = target[j] - step * abs(pull * target[j] - x)
            whale[j] = min(1.0, max(0.0, to))
        del whale.fitness.values

    toolbox = base.Toolbox()
    toolbox.register("population", make_population)
    toolbox.register("evaluate", decoder.evaluate)
    toolbox.register("update", update)
    makespans: list[int] = []
    leader = tools.HallOfFame(1)
    whales = toolbox.population(n=population)
    for number in range(rounds + 1):
        for whale, fitness in zip(whales, toolbox.map(toolbox.evaluate, whales), strict=True):
            whale.fitness.values = fitness
            makespans.append(fitness[1])
        leader.update(whales)
        if number < rounds:
            share = (number + 1) * population / ((rounds + 1) * population)
            moved = [toolbox.clone(whale) for whale in whales]
            for index, whale in enumerate(moved):
                toolbox.update(whale, index, leader[0], whales, 2.0 * (1.0 - share))
            whales = moved
    return makespans
