"""The trained network without a population search: one placement, or many samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import place_by_list, schedule_of, within_memory
from heuristics.dag.priorities import upward_ranks
from heuristics.dag.timeline import Placement
from heuristics.dag.worl_rtgs.episode import play
from heuristics.dag.worl_rtgs.features import episode_data
from heuristics.dag.worl_rtgs.generator import DdqnGenerator, initial_populations
from heuristics.dag.worl_rtgs.network import weights_from
from heuristics.search.run import SearchRun

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.arrays import DagArrays
    from heuristics.dag.greedy_generator import Population
    from heuristics.search.progress import Callback
    from heuristics.search.stop_criteria import StopCriterion
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule


def ddqn(instance: DagInstance, *, weights: str | None = None) -> DagSchedule | None:
    """Return the network's greedy placement without desired loads; within memory limits see `within_memory`.

    Tasks are placed in rank order, each on the GPU of highest value among those that fit, as early as possible. The
    shipped network was trained on makespans, and no feature depends on weights: both objectives get the same schedule.

    Parameters
    ----------
    weights
        Path of other weights written by `save_weights`, for example untrained or fine-tuned on one instance; None for
        the shipped ones.

    Raises
    ------
    ValueError
        If the file holds no weights.
    OSError
        If the file cannot be read.

    References
    ----------
    Ours; an interpretation. Du et al. (2025), Big Data Cogn. Comput. 9(11):284, call their generator "DDQN" in the
    abstract; double Q-learning is that of van Hasselt, Guez and Silver (2016).
    """
    data, network = episode_data(instance), weights_from(weights)

    def played(arrays: DagArrays) -> Placement:
        timeline = play(arrays, data, network, np.empty(0), 0.0, np.empty((0, 0)), 0.0)
        return Placement(timeline.gpu, timeline.start, int(timeline.overflow[0]))

    return within_memory(instance, played)


BATCH = 20
"""Placements made at once."""


def ddqn_sampling(
    instance: DagInstance,
    objective: Objective,
    rng: np.random.Generator,
    stop: StopCriterion,
    callback: Callback,
    *,
    temperature: float = 0.015,
    heft_seed: bool = True,
    weights: str | None = None,
) -> DagSchedule | None:
    """Return the best of many placements drawn from the network, None where all exceed a memory limit; ours.

    This baseline shows what the population search of `worl_rtgs` contributes: it begins in the same way, with HEFT's
    placement and the network's own, and draws all others from the same network, independently.

    Parameters
    ----------
    rng
        Drawn for Gumbel noise, `BATCH` placements at a time.
    temperature
        Scale of the noise, in the unit of the network's values; it does not fall. With 0 all placements are the same.
        The default is that of `worl_rtgs`, chosen by the same trials.
    heft_seed
        Whether the first placement is HEFT's.
    weights
        As in `ddqn`.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the file holds no weights.
    OSError
        If the file cannot be read.
    """
    generator = DdqnGenerator(
        instance=instance, objective=objective, weights=weights_from(weights), wish_weight=0.0, temperature=temperature
    )
    run: SearchRun[NDArray[np.int64]] = SearchRun(stop, callback)
    for seed in initial_populations(generator, heft=heft_seed, ddqn=True):
        _record(run, seed)
    while not run.stopped:
        _record(run, generator.generate(np.empty((BATCH, 0)), rng, 2.0))
    assert run.best_solution is not None  # one evaluation at least
    arrays = dag_arrays(instance)
    return schedule_of(instance, place_by_list(arrays, upward_ranks(arrays), pinned=run.best_solution))


def _record(run: SearchRun[NDArray[np.int64]], made: Population) -> None:
    """Count the placements one by one until the run is stopped."""
    if not run.stopped:
        run.record_many(made.fitness, list(made.gpu))
