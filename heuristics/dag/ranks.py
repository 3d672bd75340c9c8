"""Priorities of tasks: upward rank, downward rank, static level and optimistic cost table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.dag_arrays import DagArrays


@njit(cache=True)
def upward_ranks(arrays: DagArrays) -> NDArray[np.float64]:
    """Return mean duration plus the longest mean way to the end, transfers included, shape (n,).

    rank[i] = mean p[i,.] + max over successors s of (mean c[i,s] + rank[s]); Topcuoglu, Hariri and Wu (2002), eq. 8.
    """
    rank = np.zeros(len(arrays.release))
    for position in range(len(rank) - 1, -1, -1):
        task = arrays.topological_order[position]
        longest = 0.0
        for entry in range(arrays.succ_offsets[task], arrays.succ_offsets[task + 1]):
            longest = max(longest, arrays.succ_mean_delay[entry] + rank[arrays.succ_tasks[entry]])
        rank[task] = arrays.mean_duration[task] + longest
    return rank


@njit(cache=True)
def downward_ranks(arrays: DagArrays) -> NDArray[np.float64]:
    """Return the longest mean way from the start to each task, without the task itself, shape (n,).

    rank[i] = max over predecessors h of (rank[h] + mean p[h,.] + mean c[h,i]); Topcuoglu, Hariri and Wu (2002), eq. 10.
    """
    rank = np.zeros(len(arrays.release))
    for task in arrays.topological_order:
        for entry in range(arrays.pred_offsets[task], arrays.pred_offsets[task + 1]):
            predecessor = arrays.pred_tasks[entry]
            way = rank[predecessor] + arrays.mean_duration[predecessor] + arrays.pred_mean_delay[entry]
            rank[task] = max(rank[task], way)
    return rank


@njit(cache=True)
def static_levels(arrays: DagArrays) -> NDArray[np.float64]:
    """Return the longest way to the end in mean durations without transfers, shape (n,); Hwang et al. (1989)."""
    level = np.zeros(len(arrays.release))
    for position in range(len(level) - 1, -1, -1):
        task = arrays.topological_order[position]
        longest = 0.0
        for entry in range(arrays.succ_offsets[task], arrays.succ_offsets[task + 1]):
            longest = max(longest, level[arrays.succ_tasks[entry]])
        level[task] = arrays.mean_duration[task] + longest
    return level


@njit(cache=True)
def optimistic_costs(arrays: DagArrays) -> NDArray[np.float64]:
    """Return the optimistic cost table in ticks, shape (n, m).

    OCT[i,k] = max over successors s of min over allowed l of (OCT[s,l] + p[s,l] + (0 if l = k else mean c[i,s]));
    Arabnejad and Barbosa (2014), eq. 7.
    """
    n, m = arrays.durations.shape
    table = np.zeros((n, m))
    for position in range(n - 1, -1, -1):
        task = arrays.topological_order[position]
        for entry in range(arrays.succ_offsets[task], arrays.succ_offsets[task + 1]):
            successor, delay = arrays.succ_tasks[entry], arrays.succ_mean_delay[entry]
            cheapest = np.inf
            for l in range(m):
                if arrays.allowed[successor, l]:
                    cheapest = min(cheapest, table[successor, l] + arrays.durations[successor, l])
            for k in range(m):
                cost = cheapest + delay
                if arrays.allowed[successor, k]:
                    cost = min(cost, table[successor, k] + arrays.durations[successor, k])
                table[task, k] = max(table[task, k], cost)
    return table
