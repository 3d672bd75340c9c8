"""CPOP: the critical path on one GPU, earliest finish for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.dag_arrays import DagArrays, dag_arrays
from heuristics.dag.list_scheduler import list_schedule, schedule_of
from heuristics.dag.nics import new_nics
from heuristics.dag.ranks import downward_ranks, upward_ranks
from instances.contention import Contention

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


def cpop(instance: DagInstance, *, contention: Contention = Contention.NONE) -> DagSchedule | None:
    """Return CPOP's schedule, None where it runs into a memory limit.

    Parameters
    ----------
    instance
        What is scheduled.
    contention
        What transfers share, as in `heft`.

    References
    ----------
    Topcuoglu, Hariri and Wu (2002), IEEE TPDS 13(3). Deviations: the critical-path GPU is one that may run most tasks
    of the path, among those the one with the smallest sum of durations; the tasks of the path that it may not run, or
    for which it has no memory left, take the earliest finish; otherwise as in `heft`.
    """
    arrays = dag_arrays(instance)
    priority = upward_ranks(arrays) + downward_ranks(arrays)
    pinned = _pinned_path(arrays, priority)
    nics = new_nics(instance, contention)
    return schedule_of(instance, list_schedule(arrays, priority, pinned=pinned, nics=nics), nics)


def _pinned_path(arrays: DagArrays, priority: NDArray[np.float64]) -> NDArray[np.int64]:
    """Pin the tasks of the critical path to the critical-path GPU, shape (n,); -1 elsewhere."""
    pinned = np.full(len(priority), -1, dtype=np.int64)
    path = _critical_path(arrays, priority)
    if not path:
        return pinned
    allowed = arrays.allowed[path]
    work = np.where(allowed, arrays.durations[path], 0).sum(axis=0)
    gpu = int(np.lexsort((work, -allowed.sum(axis=0)))[0])
    for task in path:
        if arrays.allowed[task, gpu]:
            pinned[task] = gpu
    return pinned


def _critical_path(arrays: DagArrays, priority: NDArray[np.float64]) -> list[int]:
    """Walk from the entry task of highest priority along successors of the same priority; ties by index."""
    entries = np.flatnonzero(np.diff(arrays.pred_offsets) == 0)
    if not len(entries):
        return []
    task = int(entries[priority[entries].argmax()])
    path = [task]
    while arrays.succ_offsets[task] < arrays.succ_offsets[task + 1]:
        followers = np.sort(arrays.succ_tasks[arrays.succ_offsets[task] : arrays.succ_offsets[task + 1]])
        task = int(followers[priority[followers].argmax()])
        path.append(task)
    return path
