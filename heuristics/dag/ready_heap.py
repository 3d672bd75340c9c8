"""A heap of ready tasks by priority (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import njit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@njit(cache=True, forceinline=True)
def _goes_first(priority: NDArray[np.float64], task: int, other: int) -> bool:
    """Say whether a task comes before another: higher priority, ties by index."""
    return priority[task] > priority[other] or (priority[task] == priority[other] and task < other)


@njit(cache=True, forceinline=True)
def push(heap: NDArray[np.int64], size: int, priority: NDArray[np.float64], task: int) -> None:
    """Add a task to a heap of `size` ready tasks."""
    child = size
    while child > 0:
        parent = (child - 1) // 2
        if not _goes_first(priority, task, heap[parent]):
            break
        heap[child] = heap[parent]
        child = parent
    heap[child] = task


@njit(cache=True, forceinline=True)
def pop(heap: NDArray[np.int64], size: int, priority: NDArray[np.float64]) -> int:
    """Take the first task from a heap of `size` ready tasks."""
    first, last = heap[0], heap[size - 1]
    parent = 0
    while True:
        child = 2 * parent + 1
        if child >= size - 1:
            break
        if child + 1 < size - 1 and _goes_first(priority, heap[child + 1], heap[child]):
            child += 1
        if not _goes_first(priority, heap[child], last):
            break
        heap[parent] = heap[child]
        parent = child
    heap[parent] = last
    return first
