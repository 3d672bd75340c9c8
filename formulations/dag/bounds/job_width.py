"""How many tasks of a job can run at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.job_work import shortest_durations
from formulations.dag.incomparable_pairs import reachable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance

MAX_TASKS = 3_000
"""Above this many tasks only GPUs and tasks are counted: all pairs take too long."""


def job_widths(instance: DagInstance) -> NDArray[np.int64]:
    """Return the most tasks of every job that can run at the same time, at least 1, shape (jobs,).

    At most as many as there are GPUs that may run one of them, and as the largest set of them that no path orders: by
    Dilworth's theorem the number of tasks minus a largest matching of tasks to later ones. Only tasks that take time on
    every GPU count.
    """
    takes_time = shortest_durations(instance) > 0
    width = np.ones(instance.num_jobs, dtype=np.int64)
    reaches = reachable(instance) if instance.num_tasks <= MAX_TASKS else None
    for job in range(instance.num_jobs):
        tasks = np.flatnonzero((instance.job_of_task == job) & takes_time)
        if len(tasks) < 2:
            continue
        gpus = int(instance.allowed[tasks].any(axis=0).sum())
        together = len(tasks) if reaches is None or gpus == 1 else _antichain(reaches[np.ix_(tasks, tasks)])
        width[job] = min(gpus, together)
    return width


def _antichain(reaches: NDArray[np.bool_]) -> int:
    """Return the size of the largest set of tasks that no path orders."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    later = maximum_bipartite_matching(csr_array(reaches), perm_type="column")
    return len(reaches) - int((later >= 0).sum())
