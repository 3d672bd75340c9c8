"""Topological orders of tasks, and the neighbours of every task as flat arrays."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


def successor_lists(num_tasks: int, edges: NDArray[np.int64]) -> list[list[int]]:
    """Return the direct successors of every task, in the order of the edges; edges have shape (edges, 2)."""
    successors: list[list[int]] = [[] for _ in range(num_tasks)]
    for tail, head in edges.tolist():
        successors[tail].append(head)
    return successors


def topological_order(num_tasks: int, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the lexicographically smallest topological order.

    Parameters
    ----------
    edges
        Tail and head of every edge, shape (edges, 2).

    Returns
    -------
    NDArray[np.int64]
        Task at every position, shape (n,).

    Raises
    ------
    ValueError
        If the edges close a cycle; the message shows one.
    """
    successors = successor_lists(num_tasks, edges)
    missing = [0] * num_tasks
    for head in edges[:, 1].tolist():
        missing[head] += 1
    ready = [task for task in range(num_tasks) if missing[task] == 0]
    order: list[int] = []
    while ready:
        task = heapq.heappop(ready)
        order.append(task)
        for successor in successors[task]:
            missing[successor] -= 1
            if missing[successor] == 0:
                heapq.heappush(ready, successor)
    if len(order) < num_tasks:
        cycle = _find_cycle(successors, remaining={task for task in range(num_tasks) if missing[task] > 0})
        raise ValueError(f"edges: expected no cycle, got {' -> '.join(str(task) for task in cycle)}.")
    return np.array(order, dtype=np.int64)


def _find_cycle(successors: list[list[int]], remaining: set[int]) -> list[int]:
    """Walk backwards among the tasks that never became ready until one repeats."""
    predecessor = {head: tail for tail in remaining for head in successors[tail] if head in remaining}
    task, position, walk = min(remaining), {}, list[int]()
    while task not in position:
        position[task] = len(walk)
        walk.append(task)
        task = predecessor[task]
    return [*walk[position[task] :], task][::-1]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Adjacency:
    """Neighbours of task i: entries ``offsets[i]`` to ``offsets[i + 1]`` of the other two arrays.

    Parameters
    ----------
    offsets
        Shape (n + 1,), int64.
    tasks
        Neighbour per entry, shape (edges,), int64; ascending edge ids for each task.
    edges
        Edge per entry, shape (edges,), int64.
    """

    offsets: NDArray[np.int64]
    tasks: NDArray[np.int64]
    edges: NDArray[np.int64]


def predecessors(instance: DagInstance) -> Adjacency:
    """Return the predecessors of every task."""
    return _adjacency(instance, side=1)


def successors(instance: DagInstance) -> Adjacency:
    """Return the successors of every task."""
    return _adjacency(instance, side=0)


def within_jobs(instance: DagInstance) -> NDArray[np.bool_]:
    """Return which edges join two tasks of the same job, shape (edges,)."""
    jobs = instance.job_of_task[instance.edges]
    same: NDArray[np.bool_] = jobs[:, 0] == jobs[:, 1]
    return same


def _adjacency(instance: DagInstance, side: int) -> Adjacency:
    """Group the edges by their tail (side 0) or head (side 1)."""
    edges = np.argsort(instance.edges[:, side], kind="stable")
    counts = np.bincount(instance.edges[:, side], minlength=instance.num_tasks)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Adjacency(offsets=offsets, tasks=np.ascontiguousarray(instance.edges[edges, 1 - side]), edges=edges)
