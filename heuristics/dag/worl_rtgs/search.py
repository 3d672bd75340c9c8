"""WORL-RTGS: whale positions encode desired GPU loads, and a trained generator makes placements from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.greedy_generator import GreedyGenerator
from heuristics.dag.list_scheduling import place_by_list, schedule_of
from heuristics.dag.priorities import upward_ranks
from heuristics.dag.rtgs.population import improve_population, join_populations
from heuristics.dag.rtgs.search import LARGEST_SPIRAL, WISHES
from heuristics.dag.worl_rtgs.generator import (
    DdqnGenerator,
    EarliestGenerator,
    RedrawnOrders,
    initial_populations,
    random_populations,
)
from heuristics.dag.worl_rtgs.network import weights_from
from heuristics.search.settings import require_at_least, require_between, require_choice, takes_settings

if TYPE_CHECKING:
    import numpy as np

    from heuristics.dag.rtgs.population import PlacementGenerator
    from heuristics.search.progress import Callback
    from heuristics.search.stop_criteria import StopCriterion
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule


GENERATORS = ("ddqn", "greedy", "earliest")
ORDERS = ("searched", "rank", "rank-noise", "uniform")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorlRtgsSettings:
    """Parameters of `worl_rtgs`.

    Parameters
    ----------
    population
        Number of whales H, at least 2. K full rounds take H + K (H - 1) evaluations; the last one may be cut.
    generator
        "ddqn", the network; "greedy", the generator of RTGS; or "earliest", which places every task where it finishes
        first and ignores desired loads. The last two are controls, from the same first whales.
    wish
        Positions that desired loads are computed from, as in `RtgsSettings`: "running_load", which the network was
        trained on, or "final_load".
    order
        "searched": a whale also carries a list priority for every task, which moves by the equation of the loads; it
        begins at the upward rank, times log-normal noise for whales that begin at random. "rank": all whales place the
        tasks in rank order, as the network was trained and as the published loop keeps one order. Two controls:
        "rank-noise": every placement draws its order around the rank, and orders are not searched; "uniform": orders
        are searched from uniform priorities, which know nothing of the rank.
    wish_weight
        Lambda in [0, 1], the influence of the desired loads on the network; with 0 they are ignored.
    temperature
        Initial scale of the Gumbel noise on the network's values, in their unit; it falls with a, to 0. This default
        and that of `order` were chosen by trials on instances that are in no study.
    heft_seed
        Whether the first whale begins at HEFT's placement; then the result is never worse than HEFT.
    ddqn_seed
        Whether the next whale begins at the network's own placement, with lambda 0 and temperature 0.
    spiral
        Constant b of the spiral.
    weights
        Path of the network's weights, or the name of shipped ones, as in `ddqn`.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    population: int = 20
    generator: str = "ddqn"
    wish: str = "running_load"
    order: str = "searched"
    wish_weight: float = 0.5
    temperature: float = 0.015
    heft_seed: bool = True
    ddqn_seed: bool = True
    spiral: float = 1.0
    weights: str | None = None

    def __post_init__(self) -> None:
        """Check the ranges; `DdqnGenerator` checks those of its own parameters."""
        require_at_least(2, population=self.population)
        require_choice("generator", self.generator, GENERATORS)
        require_choice("wish", self.wish, WISHES)
        require_choice("order", self.order, ORDERS)
        require_between(-LARGEST_SPIRAL, LARGEST_SPIRAL, spiral=self.spiral)


@takes_settings(WorlRtgsSettings)
def worl_rtgs(
    instance: DagInstance,
    objective: Objective,
    rng: np.random.Generator,
    stop: StopCriterion,
    callback: Callback,
    settings: WorlRtgsSettings,
) -> DagSchedule | None:
    """Search as RTGS does, with placements made by a trained network; parameters as in `WorlRtgsSettings`.

    Whales move as in `improve_population`; tasks start as early as possible, in rank order or in an order that the
    whales search too. One whale begins at HEFT's placement, one at the network's own, the others at random. The network
    does not learn during a run; it was trained on makespans. Random numbers are drawn for the random whales, then per
    round by `draw_round` and the generator. The result is None where all placements exceed a memory limit.

    **Without HEFT seed** one more whale begins at random, but the search still has prior knowledge: one placement is
    the network's own, learned on thousands of other instances, and the network's features contain earliest finish times
    and upward ranks, which HEFT consists of. To begin entirely at random, as plain WOA without HEFT seed does, set
    ``ddqn_seed=False`` too; a comparison with an unseeded rival should show both. The cost of training is recorded
    with the weights and is never part of the time of a run.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the file holds no weights.
    OSError
        If the file cannot be read.

    References
    ----------
    Du, Wu, Hou, Nie and Song (2025), Efficient Scheduling for GPU-Based Neural Network Training via Hybrid
    Reinforcement Learning and Metaheuristic Optimization, Big Data Cogn. Comput. 9(11):284. Published are the WOA main
    loop and that a DDQN makes plans through a derived function. The rest is our interpretation: the loop is that of
    RTGS (see `improve_population`), the function its desired load on running loads; orders that whales search, network,
    features, rewards and training (`DdqnGenerator`) are our own.
    """
    searches_order = settings.order != "rank"
    network = DdqnGenerator(
        instance=instance,
        objective=objective,
        weights=weights_from(settings.weights),
        wish_weight=settings.wish_weight,
        temperature=settings.temperature,
        running=settings.wish == "running_load",
        searches_order=searches_order,
    )
    arrays = dag_arrays(instance)
    rank = upward_ranks(arrays)
    whales = initial_populations(network, heft=settings.heft_seed, ddqn=settings.ddqn_seed)
    whales += random_populations(
        network, rng, settings.population - len(whales), is_uniform=settings.order == "uniform"
    )
    first = join_populations(whales)
    chosen: PlacementGenerator = network
    if settings.generator == "greedy":
        chosen = GreedyGenerator(instance, objective, rank, running=network.running, searches_order=searches_order)
    elif settings.generator == "earliest":
        chosen = EarliestGenerator(instance=instance, objective=objective, rank=rank, searches_order=searches_order)
    if settings.order == "rank-noise":
        chosen = RedrawnOrders(generator=chosen, rank=rank)
    best = improve_population(rng, stop, callback, generator=chosen, first=first, spiral=settings.spiral)
    if best is None:
        return None
    priority = best.position[0, instance.num_tasks :] if searches_order else rank
    return schedule_of(instance, place_by_list(arrays, priority, pinned=best.gpu[0]))
