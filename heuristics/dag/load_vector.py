"""Placements as vectors of loads, the distance of two plans (SPD) and their finish time gap (FTG)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def final_loads(durations: NDArray[np.generic], gpu: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return for every task the final load of its GPU: the position r of a placement.

    r[i](x) = sum of p[j, x[i]] over all tasks j with x[j] = x[i], in the unit of the durations and the shape of `gpu`:
    (n,) for one placement, (count, n) for several.

    References
    ----------
    Du et al. (2025), J. Supercomputing 81(8):911: the position of a whale, as their public class computes it.
    """
    placements = np.atleast_2d(gpu)
    _, load = _accumulated(durations, placements, np.arange(placements.shape[1]))
    return np.take_along_axis(load, placements, axis=1).reshape(np.shape(gpu))


def running_loads(
    durations: NDArray[np.generic], gpu: NDArray[np.int64], order: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return for every task the load of its GPU right after the task was placed: the position rho; ours.

    rho[i](x) = sum of p[j, x[i]] over the tasks j with x[j] = x[i] that are placed before i, and i itself; units and
    shapes as in `final_loads`. The order is that of placing, shape (n,); see `placement_order`.
    """
    return _accumulated(durations, np.atleast_2d(gpu), order)[0].reshape(np.shape(gpu))


def plan_distance(durations: NDArray[np.generic], gpu: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Return the scheduling-plan distance (SPD) of two placements in ticks.

    SPD(x, y) = Euclidean distance of r(x) and r(y), see `final_loads`. The published abstract names SPD and defines it
    nowhere; this definition is ours.
    """
    return float(euclidean_distance(final_loads(durations, gpu), final_loads(durations, other)))


def finish_time_gap(makespan: float, other: float) -> float:
    """Return the finish time gap (FTG) of two schedules: the absolute difference of their makespans; ours."""
    return abs(makespan - other)


def euclidean_distance(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the square root of the sum of squared differences along the last axis."""
    return np.asarray(np.sqrt(np.square(one - other).sum(axis=-1)))


def manhattan_distance(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of absolute differences along the last axis."""
    return np.asarray(np.abs(one - other).sum(axis=-1))


def sum_distance(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the absolute sum of differences along the last axis; no metric: different points may have distance 0."""
    return np.asarray(np.abs((one - other).sum(axis=-1)))


def hamming_distance(gpu: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of tasks that two placements put on different GPUs, along the last axis."""
    return np.asarray((gpu != other).sum(axis=-1))


def _accumulated(
    durations: NDArray[np.generic], placements: NDArray[np.int64], order: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Place tasks one by one; return the load after each one, shape (count, n), and at the end, shape (count, m)."""
    rows = np.arange(len(placements))
    load = np.zeros((len(placements), durations.shape[1]))
    after = np.empty(placements.shape)
    for task in order:
        chosen = placements[:, task]
        load[rows, chosen] += durations[task, chosen]
        after[:, task] = load[rows, chosen]
    return after, load
