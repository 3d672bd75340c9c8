"""WORL-RTGS: whale positions encode desired GPU loads, and a trained generator makes placements from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.greedy_generator import GreedyGenerator
from heuristics.dag.list_scheduling import place_by_list, schedule_of
from heuristics.dag.priorities import upward_ranks
from heuristics.dag.rtgs.population import improve_population, join_populations
from heuristics.dag.rtgs.search import LARGEST_SPIRAL, WISHES
from heuristics.dag.worl_rtgs.generator import DdqnGenerator, initial_populations, random_populations
from heuristics.dag.worl_rtgs.network import weights_from

if TYPE_CHECKING:
    import numpy as np

    from heuristics.dag.rtgs.population import PlacementGenerator
    from heuristics.search.progress import Callback
    from heuristics.search.stop_criteria import StopCriterion
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule


GENERATORS = ("ddqn", "greedy")
ORDERS = ("searched", "rank")


def worl_rtgs(
    instance: DagInstance,
    objective: Objective,
    rng: np.random.Generator,
    stop: StopCriterion,
    callback: Callback,
    *,
    population: int = 20,
    generator: str = "ddqn",
    wish: str = "running_load",
    order: str = "searched",
    wish_weight: float = 0.5,
    temperature: float = 0.015,
    heft_seed: bool = True,
    ddqn_seed: bool = True,
    spiral: float = 1.0,
    weights: str | None = None,
) -> DagSchedule | None:
    """Return the best schedule that the herd finds, None where all exceed a memory limit.

    Whales move as in `improve_population`; tasks start as early as they can, in rank order or in one that the whales
    search too. One whale begins at HEFT's placement, one at the network's own, the others at random. Nothing is
    learned in a run.

    **Without HEFT seed** one more whale begins at random, yet the herd does not start from nothing: one placement is
    the network's own, learned on thousands of other instances, and whatever the network places it places by earliest
    finish times and upward ranks, which HEFT is made of. To begin at random altogether, as plain WOA without HEFT seed
    does, set ``ddqn_seed=False`` too; a comparison with an unseeded rival should show both. What training cost stands
    beside the weights, never in the time of a run.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised. The shipped network was trained on makespans.
    rng
        Source of all random numbers: the random whales, then per round `draw_round` and what the generator draws.
    stop
        Asked after every evaluation; its share of the budget drives a = 2 (1 - share).
    callback
        Told of every evaluation.
    population
        Number of whales H, at least 2. K full rounds take H + K (H - 1) evaluations; the last one may be cut.
    generator
        "ddqn"; or "greedy", that of RTGS in its place, from the same first whales.
    wish
        Position that wishes are made of, as in `rtgs`: "running_load", which the network was trained on, or
        "final_load".
    order
        "searched": a whale also carries a list priority for every task, which moves by the equation of the loads; it
        begins at the upward rank, times log-normal noise for whales that begin at random. "rank": all whales take the
        tasks in rank order, as the network was trained and as the published loop keeps one order.
    wish_weight
        Lambda in [0, 1], how much the network heeds the wish; 0: not at all.
    temperature
        Of the Gumbel noise on the network's values, in their unit, at the beginning; it falls with a, to 0. The default
        was chosen, like that of `order`, by trials on instances that are in no study.
    heft_seed
        Whether a whale, the first, begins at HEFT's placement; then the result is never worse than HEFT.
    ddqn_seed
        Whether a whale, the next, begins at the network's own placement, with lambda 0 and temperature 0.
    spiral
        Constant b of the spiral.
    weights
        As in `ddqn`.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the file holds no weights.
    OSError
        If it is not there.

    References
    ----------
    Du, Wu, Hou, Nie and Song (2025), Efficient Scheduling for GPU-Based Neural Network Training via Hybrid
    Reinforcement Learning and Metaheuristic Optimization, Big Data Cogn. Comput. 9(11):284. Published are the WOA main
    loop and that a DDQN makes plans through a derived function. The rest is our interpretation: the loop is that of
    RTGS (see `improve_population`), the function its wished load on running loads; orders that whales search,
    network, features, rewards and training (`DdqnGenerator`) are our own.
    """
    _check(population=population, generator=generator, wish=wish, order=order, spiral=spiral)
    running, searches_order = wish == "running_load", order == "searched"
    network = DdqnGenerator(
        instance=instance,
        objective=objective,
        weights=weights_from(weights),
        wish_weight=wish_weight,
        temperature=temperature,
        running=running,
        searches_order=searches_order,
    )
    arrays = dag_arrays(instance)
    rank = upward_ranks(arrays)
    whales = initial_populations(network, heft=heft_seed, ddqn=ddqn_seed)
    whales += random_populations(network, rng, population - len(whales))
    chosen: PlacementGenerator = network
    if generator == "greedy":
        chosen = GreedyGenerator(instance, objective, rank, running=running, searches_order=searches_order)
    best = improve_population(rng, stop, callback, generator=chosen, first=join_populations(whales), spiral=spiral)
    if best is None:
        return None
    priority = best.position[0, instance.num_tasks :] if searches_order else rank
    return schedule_of(instance, place_by_list(arrays, priority, pinned=best.gpu[0]))


def _check(*, population: int, generator: str, wish: str, order: str, spiral: float) -> None:
    """Check the parameters of the herd."""
    if population < 2:
        raise ValueError(f"population: expected at least 2, got {population}.")
    if generator not in GENERATORS:
        raise ValueError(f"generator: expected {' or '.join(GENERATORS)}, got {generator!r}.")
    if wish not in WISHES:
        raise ValueError(f"wish: expected {' or '.join(WISHES)}, got {wish!r}.")
    if order not in ORDERS:
        raise ValueError(f"order: expected {' or '.join(ORDERS)}, got {order!r}.")
    if not abs(spiral) <= LARGEST_SPIRAL:
        raise ValueError(f"spiral: expected a number in -{LARGEST_SPIRAL:g}..{LARGEST_SPIRAL:g}, got {spiral}.")
