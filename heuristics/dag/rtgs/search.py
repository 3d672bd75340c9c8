"""RTGS: whale positions encode desired GPU loads, and a greedy generator makes placements from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.greedy_generator import GreedyGenerator
from heuristics.dag.list_scheduling import place_by_list, placement_within_memory, schedule_of
from heuristics.dag.priorities import upward_ranks
from heuristics.dag.rtgs.population import improve_population, population_of, uniform_placements
from heuristics.search.settings import require_at_least, require_between, require_choice, takes_settings

if TYPE_CHECKING:
    from heuristics.search.progress import Callback
    from heuristics.search.stop_criteria import StopCriterion
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule


ORDERS = ("rank", "index")
WISHES = ("running_load", "final_load")

LARGEST_SPIRAL = 600.0
"""Beyond it, exp(b l) times a load may be no float."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RtgsSettings:
    """Parameters of `rtgs`; ``order="index", insertion=False, wish="final_load"`` is the published form.

    Parameters
    ----------
    population
        Number of whales H, at least 2. K full rounds take H + K (H - 1) evaluations; the last one may be cut.
    order
        Order in which tasks are placed: "rank", by upward rank as in HEFT; "index", the lexicographically smallest
        topological order, which is the published one where task indices are topological.
    insertion
        Whether a task may start in an idle gap before tasks that are already placed; the published form appends.
    wish
        Positions that desired loads are computed from: "running_load", the load of a task's GPU right after the task
        was placed; "final_load", the whole load of that GPU, as published.
    heft_seed
        Whether whale 0 begins at HEFT's placement; in the published form all whales begin at random. Only with the
        default order and insertion, whose timing is HEFT's, so that the result is never worse than HEFT.
    spiral
        Constant b of the spiral.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    population: int = 20
    order: str = "rank"
    insertion: bool = True
    wish: str = "running_load"
    heft_seed: bool = False
    spiral: float = 1.0

    def __post_init__(self) -> None:
        """Check the ranges."""
        require_at_least(2, population=self.population)
        require_choice("order", self.order, ORDERS)
        require_choice("wish", self.wish, WISHES)
        if self.heft_seed and not (self.order == "rank" and self.insertion):
            raise ValueError('heft_seed: expected False unless order is "rank" with insertion, as in HEFT, got True.')
        require_between(-LARGEST_SPIRAL, LARGEST_SPIRAL, spiral=self.spiral)


@takes_settings(RtgsSettings)
def rtgs(
    instance: DagInstance,
    objective: Objective,
    rng: np.random.Generator,
    stop: StopCriterion,
    callback: Callback,
    settings: RtgsSettings,
) -> DagSchedule | None:
    """Search with whale positions that encode desired GPU loads; parameters as in `RtgsSettings`.

    A whale is a placement; its position holds for every task the load of the task's GPU. Whales move as in
    `improve_population`, and `GreedyGenerator` makes placements from the desired loads. The result is None where all
    placements exceed a memory limit.

    References
    ----------
    Du et al. (2025), Scheduling DAG-structured workloads based on whale optimization algorithm, J. Supercomputing
    81(8):911, as in the authors' public class; `published_rtgs` is that class on its own model. Ours: durations per
    pair of task and GPU, transfers, releases, memory limits and GPUs that are not allowed (only GPUs that fit are
    chosen), rank order, insertion, running loads, HEFT seed, a from the used share of the budget.
    """
    arrays, insertion, running = dag_arrays(instance), settings.insertion, settings.wish == "running_load"
    priority = upward_ranks(arrays) if settings.order == "rank" else np.zeros(instance.num_tasks)
    generator = GreedyGenerator(instance, objective, priority, insertion, running)
    seeds = [placement_within_memory(instance, place_by_list)] if settings.heft_seed else []
    others = uniform_placements(instance, rng, settings.population - len(seeds), priority, insertion=insertion)
    first = population_of(instance, objective, [*seeds, *others], generator.order, running=running)
    best = improve_population(rng, stop, callback, generator=generator, first=first, spiral=settings.spiral)
    if best is None:
        return None
    return schedule_of(instance, place_by_list(arrays, priority, pinned=best.gpu[0], insertion=insertion))
