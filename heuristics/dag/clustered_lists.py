"""List scheduling of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from heuristics.dag.dag_arrays import dag_arrays, mean_transfer_delays
from heuristics.dag.guided_pass import Guide, guided_pass
from heuristics.dag.list_scheduler import schedule_of
from heuristics.dag.ranks import upward_ranks
from heuristics.dag.timeline import Placement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


def clustered_lists(
    instance: DagInstance,
    threshold: float,
    waste: NDArray[np.float64],
    *,
    reserve: float = 0.5,
    commitment: float = 0.5,
    price: float = 0.0,
) -> DagSchedule | None:
    """Schedule by upward rank, keeping tasks together whose edges take longer than a threshold.

    Tasks are in one cluster if edges with a mean transfer delay above the threshold connect them. The first task of a
    cluster chooses the GPU by its earliest finish, with a share of the work of the whole cluster there, a share of what
    is committed to that GPU already, and the price of the cluster's waste; the others follow where they fit.

    Parameters
    ----------
    instance
        What is scheduled.
    threshold
        Ticks.
    waste
        Ticks that each GPU wastes on each task, shape (n, m).
    reserve, commitment
        The two shares.
    price
        Ticks that count for a tick of waste.

    Returns
    -------
    DagSchedule
        None where it exceeded a memory limit.

    References
    ----------
    Clusters by heavy edges are the idea of Kim and Browne (1988) and Sarkar (1989); threshold and choice are ours.
    """
    arrays, n = dag_arrays(instance), instance.num_tasks
    cluster = _clusters(n, np.array(instance.edges), mean_transfer_delays(instance), threshold)
    longest = np.where(instance.allowed, instance.durations, instance.durations.max(axis=1, initial=0)[:, None])
    work = np.zeros((n, instance.num_gpus))
    np.add.at(work, cluster, longest)
    wasted = np.zeros((n, instance.num_gpus))
    np.add.at(wasted, cluster, np.where(instance.allowed, waste, 0.0))
    guide = Guide(
        priority=upward_ranks(arrays),
        gpu=np.zeros(n, dtype=np.int64),
        level=np.zeros(n, dtype=np.int64),
        company=0.0,
        waste=wasted[cluster],
        price=price,
        cluster=cluster,
        work=work,
        reserve=reserve,
        commitment=commitment,
    )
    timeline = guided_pass(arrays, np.zeros(0, dtype=np.int64), guide)
    return schedule_of(instance, Placement(timeline.gpu, timeline.start, int(timeline.overflow[0])))


@njit(cache=True)
def _root(parent: NDArray[np.int64], task: int) -> int:
    """Return the smallest task of a cluster and shorten the way there."""
    while parent[task] != task:
        parent[task] = parent[parent[task]]
        task = parent[task]
    return task


@njit(cache=True)
def _clusters(
    num_tasks: int, edges: NDArray[np.int64], delays: NDArray[np.float64], threshold: float
) -> NDArray[np.int64]:
    """Return the smallest task of each task's cluster, shape (n,)."""
    parent = np.arange(num_tasks)
    for edge in range(len(edges)):
        if delays[edge] > threshold:
            first, second = _root(parent, edges[edge, 0]), _root(parent, edges[edge, 1])
            parent[max(first, second)] = min(first, second)
    for task in range(num_tasks):
        parent[task] = _root(parent, task)
    return parent
