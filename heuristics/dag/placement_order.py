"""The order in which a list scheduler takes the tasks (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from heuristics.dag.ready_heap import pop, push

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.dag_arrays import DagArrays


@njit(cache=True)
def placement_order(arrays: DagArrays, priority: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the tasks in the order of list scheduling: each time the ready one of highest priority, ties by index.

    Parameters
    ----------
    arrays
        The instance.
    priority
        Of each task, shape (n,), float64. Upward ranks give HEFT's order, equal numbers the lexicographically smallest
        topological order.

    Returns
    -------
    NDArray[np.int64]
        Shape (n,).
    """
    n = len(arrays.release)
    missing = arrays.pred_offsets[1:] - arrays.pred_offsets[:-1]
    order, heap, size = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), 0
    for task in range(n):
        if missing[task] == 0:
            push(heap, size, priority, task)
            size += 1
    for place in range(n):
        task = pop(heap, size, priority)
        size -= 1
        order[place] = task
        for entry in range(arrays.succ_offsets[task], arrays.succ_offsets[task + 1]):
            successor = arrays.succ_tasks[entry]
            missing[successor] -= 1
            if missing[successor] == 0:
                push(heap, size, priority, successor)
                size += 1
    return order
