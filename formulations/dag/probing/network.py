"""An instance as arrays for kernels: both directions in the same form, transfer delays looked up in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.join import INFINITE
from instances.dag.graph import predecessors, successors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


MEMORY_UNIT = 2**20
"""Memory of a GPU in the units of `Network.memory_share`."""


class Side(NamedTuple):
    """One direction of the edges: predecessors for heads, successors for tails."""

    order: NDArray[np.int64]  # (n,), every task after its neighbours
    offsets: NDArray[np.int64]  # (n + 1,)
    neighbours: NDArray[np.int64]  # (edges,)
    delay: NDArray[np.int64]  # (edges, m, m), by own GPU, then the neighbour's; INFINITE on the diagonal
    release: NDArray[np.int64]  # (n,), zeros backwards


class Network(NamedTuple):
    """An instance as the kernels use it."""

    before: Side
    after: Side
    durations: NDArray[np.int64]  # (n, m), 0 where not allowed
    memory: NDArray[np.int64]  # (n,), bytes
    capacity: NDArray[np.int64]  # (m,), bytes, INFINITE without a limit
    memory_share: NDArray[np.int64]  # (n, m), of the GPU's memory in MEMORY_UNIT, rounded down; 0 without a limit
    team: NDArray[np.int64]  # (n,), a task's tail is the time to the end of the last of its team


def network(instance: DagInstance) -> Network:
    """Lay out an instance, all tasks in one team; takes 16 bytes per edge and pair of GPUs."""
    n, m = instance.num_tasks, instance.num_gpus
    before, after = predecessors(instance), successors(instance)
    delay = np.zeros((instance.num_edges, m, m), dtype=np.int64)
    for edge in range(instance.num_edges):
        delay[edge] = instance.transfer_delays(edge)
    delay[:, np.arange(m), np.arange(m)] = INFINITE
    limited = instance.gpu_memory > 0
    share = np.zeros((n, m), dtype=np.int64)
    unit = instance.task_memory.astype(object)[:, None] * MEMORY_UNIT  # may not fit into 64 bits
    if limited.any():
        share[:, limited] = np.minimum(unit // instance.gpu_memory[limited].astype(object), 2 * MEMORY_UNIT)
    return Network(
        before=Side(
            order=np.array(instance.topological_order),
            offsets=np.array(before.offsets),
            neighbours=np.array(before.tasks),
            delay=np.ascontiguousarray(delay[before.edges].transpose(0, 2, 1)),
            release=instance.release[instance.job_of_task],
        ),
        after=Side(
            order=instance.topological_order[::-1].copy(),
            offsets=np.array(after.offsets),
            neighbours=np.array(after.tasks),
            delay=np.ascontiguousarray(delay[after.edges]),
            release=np.zeros(n, dtype=np.int64),
        ),
        durations=np.maximum(instance.durations, 0),
        memory=np.array(instance.task_memory),
        capacity=np.where(instance.gpu_memory < 0, INFINITE, instance.gpu_memory),
        memory_share=share,
        team=np.zeros(n, dtype=np.int64),
    )
