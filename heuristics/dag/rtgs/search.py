"""RTGS: whale positions encode desired GPU loads, and a greedy generator makes placements from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.greedy_generator import GreedyGenerator
from heuristics.dag.list_scheduling import place_by_list, schedule_of
from heuristics.dag.priorities import upward_ranks
from heuristics.dag.rtgs.population import improve_population, population_of, uniform_placements

if TYPE_CHECKING:
    from heuristics.search.progress import Callback
    from heuristics.search.stop_criteria import StopCriterion
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule


ORDERS = ("rank", "index")
WISHES = ("running_load", "final_load")

LARGEST_SPIRAL = 600.0
"""Beyond, exp(b l) times a load may be no float."""


def rtgs(
    instance: DagInstance,
    objective: Objective,
    rng: np.random.Generator,
    stop: StopCriterion,
    callback: Callback,
    *,
    population: int = 20,
    order: str = "rank",
    insertion: bool = True,
    wish: str = "running_load",
    heft_seed: bool = False,
    spiral: float = 1.0,
) -> DagSchedule | None:
    """Return the best schedule that the herd finds, None where all exceed a memory limit.

    A whale is a placement; its position says for every task how much its GPU has to do. Whales move as in
    `improve_population`, and the greedy generator makes a placement of the loads they wish for (`place_by_wish`).
    ``order="index", insertion=False, wish="final_load"`` is the published form; the defaults are ours.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    rng
        Source of all random numbers: the first placements, then `draw_round` per round.
    stop
        Asked after every evaluation; its share of the budget drives a = 2 (1 - share).
    callback
        Told of every evaluation.
    population
        Number of whales H, at least 2. K full rounds take H + K (H - 1) evaluations; the last one may be cut.
    order
        How tasks are taken: "rank", by upward rank as HEFT does; "index", the lexicographically smallest topological
        order, which is the published one where task indices are topological.
    insertion
        Whether a task may start in an idle gap before tasks that are already placed; the published form appends.
    wish
        Position that wishes are made of: "running_load", what the GPU has to do right after the task was placed;
        "final_load", all it has to do, as published.
    heft_seed
        Whether whale 0 begins at HEFT's placement; the published herd begins at random altogether. Only with the
        default order and insertion, whose timing is HEFT's, so that the result is never worse than HEFT.
    spiral
        Constant b of the spiral.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Du et al. (2025), Scheduling DAG-structured workloads based on whale optimization algorithm, J. Supercomputing
    81(8):911, as in the authors' public class; `published_rtgs` is that class on its own model. Ours: durations per
    pair of task and GPU, transfers, releases, memory limits and GPUs that are not allowed (only GPUs that fit are
    chosen), rank order, insertion, running loads, HEFT seed, a from the used share of the budget.
    """
    _check(population=population, order=order, insertion=insertion, wish=wish, heft_seed=heft_seed, spiral=spiral)
    arrays = dag_arrays(instance)
    priority = upward_ranks(arrays) if order == "rank" else np.zeros(instance.num_tasks)
    running = wish == "running_load"
    generator = GreedyGenerator(instance, objective, priority, insertion, running)
    seeds = [place_by_list(arrays, priority, insertion=insertion)] if heft_seed else []
    others = uniform_placements(instance, rng, population - len(seeds), priority, insertion=insertion)
    first = population_of(instance, objective, [*seeds, *others], generator.order, running=running)
    best = improve_population(rng, stop, callback, generator=generator, first=first, spiral=spiral)
    if best is None:
        return None
    return schedule_of(instance, place_by_list(arrays, priority, pinned=best.gpu[0], insertion=insertion))


def _check(*, population: int, order: str, insertion: bool, wish: str, heft_seed: bool, spiral: float) -> None:
    """Check the parameters of the herd."""
    if population < 2:
        raise ValueError(f"population: expected at least 2, got {population}.")
    if order not in ORDERS:
        raise ValueError(f"order: expected {' or '.join(ORDERS)}, got {order!r}.")
    if wish not in WISHES:
        raise ValueError(f"wish: expected {' or '.join(WISHES)}, got {wish!r}.")
    if heft_seed and not (order == "rank" and insertion):
        raise ValueError('heft_seed: expected False unless order is "rank" with insertion, as in HEFT, got True.')
    if not abs(spiral) <= LARGEST_SPIRAL:
        raise ValueError(f"spiral: expected a number in -600..600, got {spiral}.")
