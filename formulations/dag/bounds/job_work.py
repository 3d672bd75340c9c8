"""How much work the jobs have, whatever GPUs they get."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance


def shortest_durations(instance: DagInstance) -> NDArray[np.int64]:
    """Return the shortest duration of every task over its allowed GPUs in ticks, shape (n,)."""
    longest = np.iinfo(np.int64).max
    shortest: NDArray[np.int64] = np.where(instance.allowed, instance.durations, longest).min(axis=1, initial=longest)
    return shortest


def job_work(instance: DagInstance) -> NDArray[np.int64]:
    """Return P: the sum of the shortest durations of every job's tasks in ticks, shape (jobs,)."""
    work = np.zeros(instance.num_jobs, dtype=np.int64)
    np.add.at(work, instance.job_of_task, shortest_durations(instance))
    return work
