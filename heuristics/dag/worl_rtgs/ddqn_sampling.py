"""Sampling from the trained generator: no whales, no wishes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.list_scheduler import list_schedule, schedule_of
from heuristics.dag.ranks import upward_ranks
from heuristics.dag.worl_rtgs.ddqn_generator import DdqnGenerator
from heuristics.dag.worl_rtgs.herd_seeds import herd_seeds
from heuristics.dag.worl_rtgs.shipped_weights import weights_from
from heuristics.search_run import SearchRun

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.callback import Callback
    from heuristics.dag.rtgs.herd import Litter
    from heuristics.stop.stop_criterion import StopCriterion
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule
    from instances.objective import Objective

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
    """Return the best of many placements that the network draws, None where all exceed a memory limit.

    The rival that shows what the whales are worth: it begins as `worl_rtgs` does, with HEFT's placement and the
    network's own, and draws all others from the same network, independently.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    rng
        Source of all random numbers: Gumbel noise, `BATCH` placements at a time.
    stop
        Asked after every evaluation.
    callback
        Told of every evaluation.
    temperature
        Of the noise, in the unit of the network's values; it does not fall. With 0 all placements are the same. The
        default is that of `worl_rtgs`, chosen by the same trials.
    heft_seed
        Whether the first placement is HEFT's.
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
    Ours.
    """
    generator = DdqnGenerator(
        instance=instance,
        objective=objective,
        weights=weights_from(weights),
        wish_weight=0.0,
        temperature=temperature,
    )
    run: SearchRun[NDArray[np.int64]] = SearchRun(stop, callback)
    for seed in herd_seeds(generator, heft=heft_seed, ddqn=True):
        _record(run, seed)
    while not run.stopped:
        _record(run, generator.generate(np.empty((BATCH, 0)), rng, 2.0))
    assert run.best_solution is not None  # one evaluation at least
    arrays = dag_arrays(instance)
    return schedule_of(instance, list_schedule(arrays, upward_ranks(arrays), pinned=run.best_solution))


def _record(run: SearchRun[NDArray[np.int64]], litter: Litter) -> None:
    """Count the placements one by one until the run is stopped."""
    if not run.stopped:
        run.record_many(np.column_stack([litter.overflow, litter.objective]), list(litter.gpu))
