"""Random graphs in which each pair of ordered tasks is an edge with one probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.parameter_checks import check_integer, check_number
from instances.generators.random_work import edge_array, random_graph

if TYPE_CHECKING:
    import numpy as np

    from instances.task_graph import TaskGraph

DEFAULT_DEGREE = 3.0
"""Mean number of edges per task where no probability is given."""


def erdos_renyi(rng: np.random.Generator, *, tasks: int, edge_probability: float | None = None) -> TaskGraph:
    """Make a random graph: tasks are in a fixed order, and every forward pair is an edge with one probability.

    Parameters
    ----------
    rng
        Source of structure and work.
    tasks
        Number of tasks n; hit exactly.
    edge_probability
        Probability of each of the n (n - 1) / 2 forward pairs; the default gives three edges per task on average.

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
    Erdos and Renyi (1959), On random graphs I; Cordeiro, Mounie, Perarnau, Trystram, Vincent and Wagner (2010), Random
    graph generation for scheduling simulations: the ordered variant.
    """
    tasks = check_integer("tasks", tasks, low=1)
    if edge_probability is None:
        edge_probability = min(1.0, 2.0 * DEFAULT_DEGREE / max(tasks - 1, 1))
    probability = check_number("edge_probability", edge_probability, low=0.0, high=1.0)
    edges: list[tuple[int, int]] = []
    for head in range(1, tasks):
        tails = rng.choice(head, size=int(rng.binomial(head, probability)), replace=False)
        edges += [(tail, head) for tail in sorted(tails.tolist())]
    return random_graph("erdos-renyi", [f"t{task}" for task in range(tasks)], edge_array(edges), rng)
