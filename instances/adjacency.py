"""Neighbours of every task as flat arrays, for kernels and models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance


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


def _adjacency(instance: DagInstance, side: int) -> Adjacency:
    """Group the edges by their tail (side 0) or head (side 1)."""
    edges = np.argsort(instance.edges[:, side], kind="stable")
    counts = np.bincount(instance.edges[:, side], minlength=instance.num_tasks)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Adjacency(offsets=offsets, tasks=np.ascontiguousarray(instance.edges[edges, 1 - side]), edges=edges)
