"""Tasks without edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.parameter_checks import check_integer
from instances.generators.random_work import edge_array, random_graph

if TYPE_CHECKING:
    import numpy as np

    from instances.task_graph import TaskGraph


def independent(rng: np.random.Generator, *, tasks: int) -> TaskGraph:
    """Make tasks that do not wait for each other.

    Parameters
    ----------
    rng
        Source of work.
    tasks
        Number of tasks n; hit exactly.

    Returns
    -------
    TaskGraph
        Random work and no edges; tasks are named by their number.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.

    References
    ----------
    Lenstra, Shmoys and Tardos (1990), Approximation algorithms for scheduling unrelated parallel machines: the problem
    without precedence. The work is ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    return random_graph("independent", [f"I{index}" for index in range(tasks)], edge_array([]), rng)
