"""Priorities of tasks, a heap of ready tasks, and the order in which a list scheduler takes them (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.kernels import brief_kernel, inlined_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.arrays import DagArrays


@brief_kernel()
def upward_ranks(arrays: DagArrays) -> NDArray[np.float64]:
    """Return mean duration plus the longest mean path to the end, transfers included, shape (n,).

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


ORDER_SPREAD = 0.3
"""Standard deviation of the logarithm of the noise that multiplies upward ranks."""


def noisy_ranks(rank: NDArray[np.float64], rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Return upward ranks times log-normal noise (`ORDER_SPREAD`), shape (count, n); ours.

    Draws standard normal numbers of that shape.
    """
    noisy: NDArray[np.float64] = np.tile(rank, (count, 1)) * np.exp(
        ORDER_SPREAD * rng.standard_normal((count, len(rank)))
    )
    return noisy


@brief_kernel()
def downward_ranks(arrays: DagArrays) -> NDArray[np.float64]:
    """Return the longest mean path from the start to each task, without the task itself, shape (n,).

    rank[i] = max over predecessors h of (rank[h] + mean p[h,.] + mean c[h,i]); Topcuoglu, Hariri and Wu (2002), eq. 10.
    """
    rank = np.zeros(len(arrays.release))
    for task in arrays.topological_order:
        for entry in range(arrays.pred_offsets[task], arrays.pred_offsets[task + 1]):
            predecessor = arrays.pred_tasks[entry]
            path = rank[predecessor] + arrays.mean_duration[predecessor] + arrays.pred_mean_delay[entry]
            rank[task] = max(rank[task], path)
    return rank


@brief_kernel()
def static_levels(arrays: DagArrays) -> NDArray[np.float64]:
    """Return the longest path to the end in mean durations without transfers, shape (n,); Hwang et al. (1989)."""
    level = np.zeros(len(arrays.release))
    for position in range(len(level) - 1, -1, -1):
        task = arrays.topological_order[position]
        longest = 0.0
        for entry in range(arrays.succ_offsets[task], arrays.succ_offsets[task + 1]):
            longest = max(longest, level[arrays.succ_tasks[entry]])
        level[task] = arrays.mean_duration[task] + longest
    return level


@brief_kernel()
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


@inlined_kernel
def _goes_first(priority: NDArray[np.float64], task: int, other: int) -> bool:
    """Say whether a task comes before another: higher priority, ties by index."""
    return priority[task] > priority[other] or (priority[task] == priority[other] and task < other)


@inlined_kernel
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


@inlined_kernel
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


@brief_kernel()
def placement_order(arrays: DagArrays, priority: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the tasks in the order of list scheduling: each time the ready one of highest priority, ties by index.

    Upward ranks as priorities give HEFT's order, equal numbers the lexicographically smallest topological order.
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


def weighted_priorities(arrays: DagArrays) -> NDArray[np.float64]:
    """Return priorities by weight over work of the job, then by upward rank, shape (n,)."""
    n, work = len(arrays.release), np.zeros(len(arrays.weight))
    np.add.at(work, arrays.job_of_task, arrays.mean_duration)
    ratio = np.where(work > 0, arrays.weight / np.maximum(work, 1e-300), np.inf)
    order = np.lexsort((-upward_ranks(arrays), -ratio[arrays.job_of_task]))
    priority = np.empty(n)
    priority[order] = np.arange(n, 0, -1)
    return priority
