"""Pairs of tasks that no path orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.dag.graph import successor_lists

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


def reachable(instance: DagInstance) -> NDArray[np.bool_]:
    """Return whether a path leads from task h to task i, shape (n, n)."""
    reaches = np.zeros((instance.num_tasks, instance.num_tasks), dtype=np.bool_)
    successors = successor_lists(instance.num_tasks, instance.edges)
    for task in instance.topological_order[::-1].tolist():
        for successor in successors[task]:
            reaches[task, successor] = True
            reaches[task] |= reaches[successor]
    return reaches


def has_few_incomparable(instance: DagInstance, most: int) -> bool:
    """Say whether there are at most so many pairs of tasks that no path orders.

    The count ends as soon as it exceeds `most`, so that large graphs mostly cost neither time nor memory.
    """
    successors = successor_lists(instance.num_tasks, instance.edges)
    reaches = [0] * instance.num_tasks  # one bit for each task that a path leads to
    count = 0
    for num_later, task in enumerate(instance.topological_order[::-1].tolist()):
        for successor in successors[task]:
            reaches[task] |= reaches[successor] | 1 << successor
        count += num_later - reaches[task].bit_count()
        if count > most:
            return False
    return True


def incomparable_pairs(instance: DagInstance, allowed: NDArray[np.bool_]) -> list[tuple[int, int, list[int]]]:
    """Return the pairs of tasks that may compete for a GPU.

    They are tasks h < i that no path orders, with the GPUs where both may sit, by `allowed`, shape (n, m), and both
    take time, because a task of duration 0 occupies nothing. Pairs without such a GPU are omitted.
    """
    ordered = reachable(instance)
    ordered |= ordered.T
    occupies = allowed & (instance.durations > 0)
    pairs = []
    for first in range(instance.num_tasks):
        for second in range(first + 1, instance.num_tasks):
            if not ordered[first, second]:
                common = np.flatnonzero(occupies[first] & occupies[second]).tolist()
                if common:
                    pairs.append((first, second, common))
    return pairs
