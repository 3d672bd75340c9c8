"""Random out-trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.parameter_checks import check_integer
from instances.generators.random_parents import random_parents
from instances.generators.random_work import edge_array, random_graph

if TYPE_CHECKING:
    import numpy as np

    from instances.task_graph import TaskGraph


def out_tree(rng: np.random.Generator, *, tasks: int, max_children: int = 3) -> TaskGraph:
    """Make a random out-tree: one source, and every other task has one predecessor.

    Parameters
    ----------
    rng
        Source of structure and work.
    tasks
        Number of tasks n; hit exactly.
    max_children
        Largest number of successors of a task.

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
    Hu (1961), Parallel sequencing and assembly line problems, Operations Research 9(6): trees as precedence. The
    growth, a random recursive tree with bounded degree, is ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    parents = random_parents(rng, tasks, check_integer("max_children", max_children, low=1))
    edges = [(parent, task) for task, parent in enumerate(parents, start=1)]
    return random_graph("out-tree", [f"t{task}" for task in range(tasks)], edge_array(edges), rng)
