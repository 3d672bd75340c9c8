"""Random in-trees and out-trees with bounded numbers of children."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.dag.random_graphs import edge_array, random_graph
from instances.parameters import check_integer

if TYPE_CHECKING:
    import numpy as np

    from instances.dag.task_graph import TaskGraph


def random_parents(rng: np.random.Generator, num_tasks: int, max_children: int) -> list[int]:
    """Return the parent of tasks 1, 2, ...: uniform among the earlier tasks with fewer children than the limit."""
    with_room, num_children, parents = [0], [0] * num_tasks, list[int]()
    for task in range(1, num_tasks):
        position = int(rng.integers(len(with_room)))
        parent = with_room[position]
        parents.append(parent)
        num_children[parent] += 1
        if num_children[parent] == max_children:
            with_room[position] = with_room[-1]
            with_room.pop()
        with_room.append(task)
    return parents


def in_tree(rng: np.random.Generator, *, tasks: int, max_children: int = 3) -> TaskGraph:
    """Make a random in-tree: one sink, and every other task has one successor.

    Parameters
    ----------
    tasks
        Number of tasks n; hit exactly.
    max_children
        Largest number of predecessors of a task.

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


def out_tree(rng: np.random.Generator, *, tasks: int, max_children: int = 3) -> TaskGraph:
    """Make a random out-tree: one source, and every other task has one predecessor.

    Parameters
    ----------
    tasks
        Number of tasks n; hit exactly.
    max_children
        Largest number of successors of a task.

    References
    ----------
    Hu (1961), Parallel sequencing and assembly line problems, Operations Research 9(6): trees as precedence. The
    growth, a random recursive tree with bounded degree, is ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    parents = random_parents(rng, tasks, check_integer("max_children", max_children, low=1))
    edges = [(parent, task) for task, parent in enumerate(parents, start=1)]
    return random_graph("out-tree", [f"t{task}" for task in range(tasks)], edge_array(edges), rng)
