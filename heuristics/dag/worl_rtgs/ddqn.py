"""The trained generator alone: one placement, no whales."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.list_scheduler import schedule_of
from heuristics.dag.timeline import Placement
from heuristics.dag.worl_rtgs.episode import play
from heuristics.dag.worl_rtgs.features import episode_data
from heuristics.dag.worl_rtgs.shipped_weights import weights_from

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


def ddqn(instance: DagInstance, *, weights: str | None = None) -> DagSchedule | None:
    """Return the network's greedy placement without a wish, None where it runs into a memory limit.

    Tasks go in rank order, each to the GPU of highest value among those that fit, and start as early as they can there.
    The shipped network was trained on makespans, and no feature knows of weights: both objectives get one schedule.

    Parameters
    ----------
    instance
        What is scheduled.
    weights
        Path of other weights, as `save_weights` writes them: untrained ones, say, or fine-tuned on one instance; None
        for the shipped ones.

    Raises
    ------
    ValueError
        If the file holds no weights.
    OSError
        If it is not there.

    References
    ----------
    Ours; an interpretation. Of their generator Du et al. (2025), Big Data Cogn. Comput. 9(11):284, name "DDQN" in the
    abstract; double Q-learning is that of van Hasselt, Guez and Silver (2016).
    """
    arrays, data = dag_arrays(instance), episode_data(instance)
    timeline = play(arrays, data, weights_from(weights), np.empty(0), 0.0, np.empty((0, 0)), 0.0)
    return schedule_of(instance, Placement(timeline.gpu, timeline.start, int(timeline.overflow[0])))
