"""Rewards that tell at once what a placement will cost, instead of when the makespan grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.dag_arrays import DagArrays
    from heuristics.dag.timeline import Timeline
    from heuristics.dag.worl_rtgs.features import EpisodeData


def expected_makespans(
    arrays: DagArrays, data: EpisodeData, timeline: Timeline
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what each state of an episode says of the final makespan, and the makespan so far; ours.

    E(s) is a lower bound of the makespan of every way to go on from s: the largest of LB, finish + O over the placed
    tasks (O: onward cost), and the mean load of a GPU when all other tasks take their smallest duration. It never
    falls, and after the last placement it is the makespan.

    Parameters
    ----------
    arrays, data
        The instance.
    timeline
        What the episode placed, in the order of `data`.

    Returns
    -------
    tuple
        E and the makespan of the placed tasks, before each placement and after the last one, in ticks, shape (n + 1,)
        each.
    """
    order = data.order
    gpu, finish = timeline.gpu[order], timeline.finish[order]
    shortest = np.where(arrays.allowed, arrays.durations, np.iinfo(np.int64).max).min(axis=1)[order]
    beyond = arrays.durations[order, gpu] - shortest
    load = (shortest.sum() + np.concatenate([[0], np.cumsum(beyond)])) / arrays.durations.shape[1]
    path = np.maximum.accumulate(np.concatenate([[0], finish + data.onward[order, gpu]]))
    makespan = np.maximum.accumulate(np.concatenate([[0], finish])).astype(np.float64)
    expected = np.maximum(np.maximum(load, path), data.lower_bound)
    expected[-1] = makespan[-1]
    return expected, makespan


def shaped_rewards(
    reward: NDArray[np.float64],
    expected: NDArray[np.float64],
    makespan: NDArray[np.float64],
    *,
    lower_bound: float,
    unit: float,
    gamma: float,
) -> NDArray[np.float64]:
    """Return rewards with the growth of the makespan taken in another unit and shaped by what is to be expected.

    The term -(C' - C) / LB becomes -(C' - C) / U + gamma Phi(s') - Phi(s), Phi(s) = (C(s) - E(s)) / U; with gamma = 1
    that is -(E(s') - E(s)) / U. Wish and overflow count as before.

    Parameters
    ----------
    reward
        As `play_recording` gives it, shape (n,).
    expected, makespan
        E and C, see `expected_makespans`.
    lower_bound
        LB in ticks.
    unit
        U in ticks. LB is far from the optimum where one GPU is much faster than the others, and errors on such
        instances would outweigh all others; HEFT's makespan is near it everywhere.
    gamma
        Discount.

    References
    ----------
    Ng, Harada and Russell (1999), Policy invariance under reward transformations, ICML: gamma Phi(s') - Phi(s) leaves
    the best behaviour as it is.
    """
    growth, potential = np.diff(makespan), (makespan - expected) / unit
    return reward + growth / lower_bound - growth / unit + gamma * potential[1:] - potential[:-1]
