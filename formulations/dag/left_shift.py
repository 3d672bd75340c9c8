"""From a solver's solution to the schedule it means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.adjacency import predecessors
from instances.dag_schedule import DagSchedule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance


def left_shift(instance: DagInstance, gpu: NDArray[np.int64], start: NDArray[Any]) -> DagSchedule:
    """Keep GPUs and orders, and start every task as early as these allow.

    Tasks are taken by (start, rounded to 1e-4 where it is no integer, topological position); each gets the least
    integer start that its release, its predecessors with transfer delays, and the last finish on its GPU allow (ignored
    by a task of duration 0). This repairs a MILP solver's tolerances and never makes a right schedule worse.

    Parameters
    ----------
    instance
        What is scheduled.
    gpu
        GPU of each task, shape (n,).
    start
        Start of each task in ticks, not necessarily integer, shape (n,).
    """
    position = np.empty(instance.num_tasks, dtype=np.int64)
    position[instance.topological_order] = np.arange(instance.num_tasks)
    before = predecessors(instance)
    release = instance.release[instance.job_of_task].tolist()
    free_at = [0] * instance.num_gpus
    starts, finish, gpus = [0] * instance.num_tasks, [0] * instance.num_tasks, gpu.tolist()
    order = np.asarray(start)
    if order.dtype.kind == "f":
        order = np.round(order, 4)
    for task in np.lexsort((position, order)).tolist():
        k = gpus[task]
        duration = int(instance.durations[task, k])
        earliest = max(release[task], free_at[k] if duration else 0)
        for entry in range(before.offsets[task], before.offsets[task + 1]):
            predecessor, data = int(before.tasks[entry]), int(instance.edge_bytes[before.edges[entry]])
            source = gpus[predecessor]
            delay = 0
            if data and source != k:
                delay = int(instance.latency[source, k]) + math.ceil(data / instance.bytes_per_tick[source, k])
            earliest = max(earliest, finish[predecessor] + delay)
        starts[task], finish[task] = earliest, earliest + duration
        if duration:
            free_at[k] = finish[task]
    return DagSchedule(gpu=gpu, start=np.array(starts, dtype=np.int64), instance=instance)
