"""Episodes of the network with everything written down, and steps that can be prescribed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.worl_rtgs.episode import EpisodeRecord, play_recording
from heuristics.dag.worl_rtgs.features import NUM_FEATURES, episode_data
from heuristics.dag.worl_rtgs.network import Weights, initial_weights
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heuristics.dag.timeline import Timeline
    from instances.dag.instance import DagInstance

WEIGHTS = initial_weights(np.random.default_rng(5))
"""An untrained network."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Recorded:
    """What `play_recording` wrote, one row per step."""

    timeline: Timeline
    rows: NDArray[np.float32]
    fits: NDArray[np.bool_]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]


def recorded(
    instance: DagInstance,
    *,
    wish: Sequence[float] = (),
    lam: float = 0.0,
    epsilon: float = 0.0,
    uniforms: NDArray[np.float64] | None = None,
    objective: Objective = Objective.MAKESPAN,
    weights: Weights = WEIGHTS,
    more_gpus: int = 0,
) -> Recorded:
    """Play an episode; the records have room for some more GPUs than there are, and begin with nonsense in them."""
    n, width = instance.num_tasks, instance.num_gpus + more_gpus
    rows, fits = np.full((n, width, NUM_FEATURES), np.nan, dtype=np.float32), np.ones((n, width), dtype=np.bool_)
    actions, rewards = np.full(n, -7), np.full(n, np.nan)
    timeline = play_recording(
        dag_arrays(instance),
        episode_data(instance, objective),
        weights,
        np.array(wish, dtype=np.float64),
        lam,
        epsilon,
        np.ones((n, 2)) if uniforms is None else uniforms,
        EpisodeRecord(rows, fits, actions, rewards),
    )
    return Recorded(timeline=timeline, rows=rows, fits=fits, actions=actions, rewards=rewards)


def towards(instance: DagInstance, gpu: Sequence[int], **options: object) -> Recorded:
    """Play an episode that puts every task on the given GPU; for instances where all allowed GPUs fit all the time."""
    order = episode_data(instance).order
    counts = instance.allowed.sum(axis=1)
    index = [np.flatnonzero(instance.allowed[task]).tolist().index(gpu[task]) for task in order]
    uniforms = np.column_stack([np.zeros(len(order)), (np.array(index) + 0.5) / counts[order]])
    played = recorded(instance, epsilon=1.0, uniforms=uniforms, **options)
    assert played.timeline.gpu.tolist() == list(gpu)
    return played
