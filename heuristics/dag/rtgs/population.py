"""The main loop of RTGS (Algorithm B): random numbers, moves, first placements, and rounds of the population."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.greedy_generator import Population
from heuristics.dag.list_scheduling import UNIFORM, place_by_list
from heuristics.dag.load_vector import final_loads, running_loads
from heuristics.search.run import SearchRun
from instances.dag.objective import Objective, objective_value
from instances.dag.schedule import DagSchedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heuristics.dag.timeline import Placement
    from heuristics.search.progress import Callback
    from heuristics.search.stop_criteria import StopCriterion
    from instances.dag.instance import DagInstance


class RoundDraws(NamedTuple):
    """Random numbers of Algorithm B for the whales that move, all but the leader; n tasks."""

    r1: NDArray[np.float64]  # (count,), uniform in [0, 1): A = 2 a r1 - a
    p: NDArray[np.float64]  # (count,), uniform in [0, 1): spiral or not
    other: NDArray[np.int64]  # (count,), place of the random whale among those that are neither leader nor mover
    sign: NDArray[np.float64]  # (count, n), -1 or 1
    l: NDArray[np.float64]  # (count, n), uniform in [-1, 1): where on the spiral


def draw_round(rng: np.random.Generator, population: int, num_columns: int) -> RoundDraws:
    """Draw the random numbers of a round.

    Parameters
    ----------
    population
        Number of whales H, including the leader, at least 2.
    num_columns
        Entries of a position: the number of tasks n where it holds loads only.
    """
    count = population - 1
    return RoundDraws(
        r1=rng.random(count),
        p=rng.random(count),
        other=rng.integers(max(1, population - 2), size=count),
        sign=np.where(rng.integers(2, size=(count, num_columns)) == 1, 1.0, -1.0),
        l=rng.uniform(-1.0, 1.0, size=(count, num_columns)),
    )


def desired_loads(
    position: NDArray[np.float64], leader: int, a: float, draws: RoundDraws, spiral: float = 1.0
) -> NDArray[np.float64]:
    """Return the desired load of every task for all whales but the leader.

    For a whale x: A = 2 a r1 - a; the target z is the leader if abs(A) < 1, else the random whale. Per task i, with a
    random sign e: h[i] = r[i](z) + e q (r[i](z) - r[i](x)), where q = exp(b l) cos(2 pi l) if abs(A) < 1 and p > 0.5,
    else q = A.

    Parameters
    ----------
    position
        Load r[i] (or rho[i]) of every task for each whale in ticks, shape (H, n), H at least 2.
    a
        Falls from 2 to 0 over a run.
    spiral
        Constant b.

    Returns
    -------
    NDArray[np.float64]
        h in ticks, shape (H - 1, n): a row for every whale but the leader, in their order.

    References
    ----------
    Du et al. (2025), J. Supercomputing 81(8):911, as in their public class. Deviations that repair its defects: only
    the leader itself does not move, though others may tie with it; the random whale is any but leader and mover, and
    the leader where there is no other.
    """
    movers = np.delete(np.arange(len(position)), leader)
    step = 2.0 * a * draws.r1 - a
    follows_leader = np.abs(step) < 1.0
    target = np.where(follows_leader, leader, _random_whales(movers, leader, draws.other))
    on_spiral = follows_leader & (draws.p > 0.5)
    way = np.where(on_spiral[:, None], np.exp(spiral * draws.l) * np.cos(2 * np.pi * draws.l), step[:, None])
    goal = position[target]
    return goal + draws.sign * way * (goal - position[movers])


def _random_whales(movers: NDArray[np.int64], leader: int, other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the whale at place `other` among the movers except the one that moves, the leader if there is no other."""
    if len(movers) == 1:
        return np.array([leader])
    return movers[other + (other >= np.arange(len(movers)))]


def population_of(
    instance: DagInstance,
    objective: Objective,
    placements: Sequence[Placement],
    order: NDArray[np.int64],
    *,
    running: bool,
) -> Population:
    """Return one or more placements as a population.

    The tasks were placed in the given order, shape (n,); positions are running loads (rho) if `running`, else final
    loads (r).
    """
    gpu = np.array([placement.gpu for placement in placements])
    durations = instance.durations
    schedules = (DagSchedule(gpu=placement.gpu, start=placement.start) for placement in placements)
    return Population(
        gpu=gpu,
        position=running_loads(durations, gpu, order) if running else final_loads(durations, gpu),
        overflow=np.array([placement.overflow for placement in placements], dtype=np.int64),
        objective=np.array([objective_value(instance, schedule, objective) for schedule in schedules], dtype=np.int64),
    )


def uniform_placements(
    instance: DagInstance, rng: np.random.Generator, count: int, priority: NDArray[np.float64], *, insertion: bool
) -> list[Placement]:
    """Return random placements: every GPU that fits is equally likely.

    Draws `count` rows of n keys u; among c GPUs that fit a task takes number floor(c u). Priorities, shape (n,), are as
    in `placement_order`; with `insertion` a task may start in an idle gap before tasks that are already placed.
    """
    arrays = dag_arrays(instance)
    return [
        place_by_list(arrays, priority, rule=UNIFORM, gpu_keys=keys, insertion=insertion)
        for keys in rng.random((count, instance.num_tasks))
    ]


class PlacementGenerator(Protocol):
    """Makes a placement from every row of desired loads."""

    def generate(self, desired: NDArray[np.float64], rng: np.random.Generator, a: float) -> Population:
        """Return one placement per row, timed.

        Parameters
        ----------
        desired
            Desired position: load h of every task in ticks, shape (count, n), and whatever else positions hold.
        a
            Falls from 2 to 0 over a run.
        """


def improve_population(
    rng: np.random.Generator,
    stop: StopCriterion,
    callback: Callback,
    *,
    generator: PlacementGenerator,
    first: Population,
    spiral: float = 1.0,
) -> Population | None:
    """Move a population until the stop criterion holds; return the best placement, None if all exceeded a memory limit.

    In every round the leader stays as it is, and each other whale is replaced by the placement that the generator makes
    from its desired loads (`desired_loads`), better or not. The leader of the next round is the best of both; ties go
    to the old leader, then to the first whale. With H whales and K full rounds there are H + K (H - 1) evaluations; the
    last round may be cut.

    Parameters
    ----------
    rng
        Drawn per round by `draw_round`, then by the generator.
    stop
        Queried after every evaluation; its used share of the budget at the beginning of a round gives a = 2 (1 -
        share).
    callback
        Receives every evaluation and, after the first whales and every round, the numbers of evaluations and seconds
        so far, the best objective so far and the mean objective of the new placements that keep the memory limits.
    generator
        Makes and times all placements of a round at once.
    first
        The first H whales, at least 2.
    spiral
        Constant b of the spiral.

    References
    ----------
    Du et al. (2025), J. Supercomputing 81(8):911, as in their public class. Deviations: see `desired_loads`; there a is
    2 (1 - k / K) in round k = 1..K.
    """
    run: SearchRun[Population] = SearchRun(stop, callback)
    whales = first
    _record(run, callback, first)
    while not run.stopped:
        leader, a = whales.best, 2.0 * (1.0 - run.share)
        draws = draw_round(rng, *whales.position.shape)
        children = generator.generate(desired_loads(whales.position, leader, a, draws, spiral), rng, a)
        _record(run, callback, children)
        whales = join_populations([whales.only(leader), children])
    assert run.best_fitness is not None  # one evaluation at least
    return run.best_solution if run.best_fitness[0] == 0 else None


def join_populations(populations: Sequence[Population]) -> Population:
    """Return one or more populations as one."""
    return Population(*(np.concatenate(parts) for parts in zip(*populations, strict=True)))


def _record(run: SearchRun[Population], callback: Callback, made: Population) -> None:
    """Count the placements until the run is stopped, and report the round."""
    counted = run.record_many(made.fitness, [made.only(index) for index in range(len(made.gpu))])
    kept = made.objective[:counted][made.overflow[:counted] == 0]
    row = {
        "evaluations": run.progress.evaluations,
        "seconds": run.progress.seconds,
        "best": run.progress.objective,
        "mean": float(kept.mean()) if len(kept) else None,
    }
    callback.on_round(row)
