"""Random layered graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.generators.parameter_checks import check_integer, check_number
from instances.generators.random_work import edge_array, random_graph

if TYPE_CHECKING:
    from instances.task_graph import TaskGraph


def layered(
    rng: np.random.Generator, *, tasks: int, layers: int | None = None, in_degree: float = 2.5, jump: int = 1
) -> TaskGraph:
    """Make a random layered graph.

    Every task beyond the first layer has a predecessor in the layer before: the longest chain has one task per layer.

    Parameters
    ----------
    rng
        Source of structure and work.
    tasks
        Number of tasks n; hit exactly.
    layers
        Number of layers, none of them empty; default the square root of n.
    in_degree
        Mean number of predecessors beyond the first layer, before a small layer caps it.
    jump
        Predecessors come from this many layers before.

    Returns
    -------
    TaskGraph
        Random work; tasks are named by layer and position.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.

    References
    ----------
    Tobita and Kasahara (2002), A standard task graph set for fair evaluation of multiprocessor scheduling algorithms:
    layered graphs; Topcuoglu, Hariri and Wu (2002): about sqrt(n) layers. The distribution of predecessors is ours:
    one, and a Poisson number of further ones.
    """
    tasks = check_integer("tasks", tasks, low=1)
    layers = check_integer("layers", round(tasks**0.5) if layers is None else layers, low=1, high=tasks)
    in_degree = check_number("in_degree", in_degree, low=1.0)
    jump = check_integer("jump", jump, low=1)
    sizes = 1 + rng.multinomial(tasks - layers, np.full(layers, 1.0 / layers))
    first = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    edges: list[tuple[int, int]] = []
    for layer in range(1, layers):
        pool_start, before = first[max(layer - jump, 0)], first[layer - 1]
        now, after = first[layer], first[layer + 1]
        further = rng.poisson(in_degree - 1.0, size=after - now)
        for head, count in zip(range(now, after), further.tolist(), strict=True):
            direct = int(rng.integers(before, now))
            others = rng.choice(now - pool_start - 1, size=min(count, now - pool_start - 1), replace=False) + pool_start
            others += others >= direct
            edges += [(tail, head) for tail in sorted([direct, *others.tolist()])]
    names = [f"L{layer}.{index}" for layer, size in enumerate(sizes.tolist()) for index in range(size)]
    return random_graph("layered", names, edge_array(edges), rng)
