"""Random in-trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.parameter_checks import check_integer
from instances.generators.random_parents import random_parents
from instances.generators.random_work import edge_array, random_graph

if TYPE_CHECKING:
    import numpy as np

    from instances.task_graph import TaskGraph


def in_tree(rng: np.random.Generator, *, tasks: int, max_children: int = 3) -> TaskGraph:
    """Make a random in-tree: one sink, and every other task has one successor.

    Parameters
    ----------
    rng
        Source of structure and work.
    tasks
        Number of tasks n; hit exactly.
    max_children
        Largest number of predecessors of a task.

    Returns
    -------
    TaskGraph
        Random work.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.

    References
    ----------
    Hu (1961), Parallel sequencing and assembly line problems, Operations Research 9(6): assembly trees. The growth, a
    random recursive tree with bounded degree, is ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    parents = random_parents(rng, tasks, check_integer("max_children", max_children, low=1))
    last = tasks - 1
    edges = sorted((last - task, last - parent) for task, parent in enumerate(parents, start=1))
    return random_graph("in-tree", [f"t{task}" for task in range(tasks)], edge_array(edges), rng)
