"""Chains side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.generators.parameter_checks import check_integer
from instances.generators.random_work import edge_array, random_graph

if TYPE_CHECKING:
    from instances.task_graph import TaskGraph


def chains(rng: np.random.Generator, *, tasks: int, chains: int | None = None) -> TaskGraph:
    """Make chains of random lengths that do not touch each other.

    Parameters
    ----------
    rng
        Source of lengths and work.
    tasks
        Number of tasks n; hit exactly.
    chains
        Number of chains, none of them empty; default the square root of n.

    Returns
    -------
    TaskGraph
        Random work; tasks are named by chain and position.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.

    References
    ----------
    Pinedo, Scheduling: Theory, Algorithms, and Systems: precedence by chains. The lengths, one and a multinomial share
    of the rest, are ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    count = check_integer("chains", round(tasks**0.5) if chains is None else chains, low=1, high=tasks)
    lengths = (1 + rng.multinomial(tasks - count, np.full(count, 1.0 / count))).tolist()
    names = [f"C{chain}.{index}" for chain, length in enumerate(lengths) for index in range(length)]
    begins = set(np.cumsum(lengths).tolist())
    edges = [(task - 1, task) for task in range(1, tasks) if task not in begins]
    return random_graph("chains", names, edge_array(edges), rng)
