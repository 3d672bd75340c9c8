"""Random trees with bounded numbers of children."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def random_parents(rng: np.random.Generator, num_tasks: int, max_children: int) -> list[int]:
    """Return the parent of tasks 1, 2, ...: uniform among the earlier tasks that have room for a child."""
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
