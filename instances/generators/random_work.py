"""Random work for graphs of which only the structure is given."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from instances.task_graph import TaskGraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FLOPS_RANGE = (2e8, 2e10)
"""Smallest and largest task in floating-point operations; log-uniform between."""

INTENSITY_RANGE = (8.0, 1024.0)
"""Smallest and largest arithmetic intensity in FLOP per byte; log-uniform between.

The ridges of current GPUs in fp16 lie inside (P100 26, V100 139, A100 201, T4 217, H100 295): some tasks are bound by
arithmetic, some by memory, and kinds of GPU rank differently from task to task.
"""

OUTPUT_SHARE_RANGE = (0.01, 0.04)
"""Output of a task over the bytes it moves; uniform between."""


def random_graph(name: str, task_names: Sequence[str], edges: NDArray[np.int64], rng: np.random.Generator) -> TaskGraph:
    """Give every task random work, and every edge the output of its tail.

    Parameters
    ----------
    name, task_names
        Free text.
    edges
        Tail and head of every edge, shape (edges, 2).
    rng
        Source of sizes, intensities and outputs.

    Returns
    -------
    TaskGraph
        FLOPs and intensities are log-uniform; the memory of a task is once to twice its output. All of this is ours.
    """
    num_tasks = len(task_names)
    flops = log_uniform(rng, FLOPS_RANGE, num_tasks)
    moved_bytes = flops / log_uniform(rng, INTENSITY_RANGE, num_tasks)
    output = np.ceil(moved_bytes * rng.uniform(*OUTPUT_SHARE_RANGE, num_tasks)).astype(np.int64)
    memory = np.ceil(output * rng.uniform(1.0, 2.0, num_tasks)).astype(np.int64)
    edge_list = edges.tolist()
    return TaskGraph(
        name=name,
        task_names=list(task_names),
        flops=flops.tolist(),
        moved_bytes=moved_bytes.tolist(),
        memory_bytes=memory.tolist(),
        edges=[(tail, head, data) for (tail, head), data in zip(edge_list, output[edges[:, 0]].tolist(), strict=True)],
    )


def log_uniform(rng: np.random.Generator, bounds: tuple[float, float], size: int) -> NDArray[np.float64]:
    """Draw numbers between two bounds whose logarithm is uniform, shape (size,)."""
    return np.exp(rng.uniform(math.log(bounds[0]), math.log(bounds[1]), size))


def edge_array(edges: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    """Return edges as an array of shape (edges, 2), also where there are none."""
    return np.array(edges, dtype=np.int64).reshape(-1, 2)
