"""Random series-parallel graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.generators.parameter_checks import check_integer, check_number
from instances.generators.random_work import edge_array, random_graph

if TYPE_CHECKING:
    from instances.task_graph import TaskGraph


def series_parallel(
    rng: np.random.Generator, *, tasks: int, parallel_probability: float = 0.6, max_branches: int = 4
) -> TaskGraph:
    """Make a random two-terminal series-parallel graph by splitting blocks of tasks.

    A block of four or more tasks becomes, with the given probability, a source, parallel blocks and a sink; else two
    blocks in series. Smaller blocks are chains.

    Parameters
    ----------
    rng
        Source of structure and work.
    tasks
        Number of tasks n; hit exactly.
    parallel_probability
        Probability that a block becomes parallel ones.
    max_branches
        Largest number of parallel blocks; their number is uniform from 2.

    Returns
    -------
    TaskGraph
        Random work; the first task is the only source and the last one the only sink.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.

    References
    ----------
    Valdes, Tarjan and Lawler (1982), The recognition of series parallel digraphs, SIAM Journal on Computing 11(2): the
    class. The random splitting is ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    probability = check_number("parallel_probability", parallel_probability, low=0.0, high=1.0)
    max_branches = check_integer("max_branches", max_branches, low=2)
    edges: list[tuple[int, int]] = []
    blocks = [(0, tasks)]
    while blocks:
        first, size = blocks.pop()
        if size == 1:
            continue
        if size >= 4 and rng.random() < probability:
            branches = int(rng.integers(2, min(max_branches, size - 2) + 1))
            sizes, last = _random_parts(rng, size - 2, branches), first + size - 1
            starts = first + 1 + np.concatenate([[0], np.cumsum(sizes)[:-1]])
            for start, part in zip(starts.tolist(), sizes, strict=True):
                edges += [(first, start), (start + part - 1, last)]
                blocks.append((start, part))
        else:
            part = int(rng.integers(1, size))
            edges.append((first + part - 1, first + part))
            blocks += [(first, part), (first + part, size - part)]
    return random_graph("series-parallel", [f"t{task}" for task in range(tasks)], edge_array(sorted(edges)), rng)


def _random_parts(rng: np.random.Generator, total: int, parts: int) -> list[int]:
    """Split a number into positive parts, all ways equally likely."""
    cuts = np.sort(rng.choice(total - 1, size=parts - 1, replace=False) + 1)
    return np.diff(np.concatenate([[0], cuts, [total]])).tolist()  # type: ignore[no-any-return]  # NumPy's stubs
