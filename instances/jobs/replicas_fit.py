"""Whether the replicas of a job's stages fit on GPUs of kinds that they may use."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def replicas_fit(replicas: Sequence[int], allowed: Sequence[Sequence[bool]], capacity: Sequence[int]) -> bool:
    """Say whether all replicas can be placed, one on a GPU.

    Parameters
    ----------
    replicas
        How many of each stage.
    allowed
        Whether each stage may use each kind, a row per stage.
    capacity
        GPUs of each kind.

    Returns
    -------
    bool
        Whether a transport of all replicas to GPUs exists; by Hall's theorem the same as the test that no union of
        allowed sets of kinds is asked for more than it has.

    References
    ----------
    Ford and Fulkerson (1956): augmenting paths, shortest ones first (Edmonds and Karp, 1972).
    """
    if sum(replicas) > sum(capacity):
        return False
    if all(map(all, allowed)):
        return True
    free = list(capacity)
    placed = [[0] * len(free) for _ in replicas]
    return all(_place(stage, count, allowed, free, placed) for stage, count in enumerate(replicas))


def _place(stage: int, count: int, allowed: Sequence[Sequence[bool]], free: list[int], placed: list[list[int]]) -> bool:
    """Place the replicas of one stage, moving others to other kinds where that is needed."""
    while count > 0:
        path = _path_to_free_gpus(stage, allowed, free, placed)
        if path is None:
            return False
        movable = [placed[mover][left] for (_, left), (mover, _) in itertools.pairwise(path)]
        moved = min(count, free[path[-1][1]], *movable)
        for step, (mover, kind) in enumerate(path):
            placed[mover][kind] += moved
            if step:
                placed[mover][path[step - 1][1]] -= moved
        free[path[-1][1]] -= moved
        count -= moved
    return True


def _path_to_free_gpus(
    stage: int, allowed: Sequence[Sequence[bool]], free: list[int], placed: list[list[int]]
) -> list[tuple[int, int]] | None:
    """Return the shortest chain of (stage, kind it moves to) that ends at a kind with a free GPU, if any."""
    came_from: dict[int, tuple[int, int | None]] = {}  # kind -> stage that moves to it, kind that stage leaves
    layer: list[tuple[int, int | None]] = [(stage, None)]
    while layer:
        following: list[tuple[int, int | None]] = []
        for mover, left in layer:
            for kind, is_allowed in enumerate(allowed[mover]):
                if not is_allowed or kind in came_from:
                    continue
                came_from[kind] = (mover, left)
                if free[kind] > 0:
                    return _traced(kind, came_from)
                following += [(other, kind) for other, row in enumerate(placed) if row[kind] > 0]
        layer = following
    return None


def _traced(kind: int, came_from: dict[int, tuple[int, int | None]]) -> list[tuple[int, int]]:
    """Return the chain that leads to a kind, from its beginning."""
    path: list[tuple[int, int]] = []
    step: int | None = kind
    while step is not None:
        mover, left = came_from[step]
        path.append((mover, step))
        step = left
    return path[::-1]
