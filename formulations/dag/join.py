"""The earliest start behind a join: some predecessors on the same GPU, the others across links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

INFINITE = 2**60
"""Head and tail where a task cannot sit on a GPU; sums of a few stay within 64 bits."""


@njit(cache=True)
def earliest_start(
    size: int,
    remote: NDArray[np.int64],
    local: NDArray[np.int64],
    duration: NDArray[np.int64],
    memory: NDArray[np.int64],
    room: int,
) -> int:
    """Return the least start over all splits into local and remote predecessors; `INFINITE` if none is possible.

    Local predecessors cannot overlap on the GPU; remote ones may sit anywhere else, even together. It suffices to try
    "local = all that would arrive after theta if they were remote".

    Parameters
    ----------
    size
        Number of predecessors; only the first `size` entries of the arrays count.
    remote
        Earliest arrival of each one's data from any other GPU; `INFINITE` where there is none.
    local, duration
        Head and duration of each one on this GPU; `INFINITE` where it cannot sit here.
    memory
        Of each one in bytes.
    room
        Bytes that are left for predecessors on this GPU.
    """
    if size == 0:
        return 0
    if size == 1:
        here = local[0] + duration[0] if memory[0] <= room else INFINITE
        return min(here, remote[0], INFINITE)
    by_head = np.empty(size, dtype=np.int64)
    for new in range(size):  # by insertion: few predecessors, and quick to compile
        place = new
        while place > 0 and local[by_head[place - 1]] > local[new]:
            by_head[place] = by_head[place - 1]
            place -= 1
        by_head[place] = new
    best = INFINITE
    for split in range(-1, size):
        theta = -1 if split < 0 else remote[split]
        if theta >= best:
            continue  # it waits for the one that arrives at theta
        arrival, end, used, possible = 0, 0, 0, True
        for position in range(size):  # increasing heads: the exact one-GPU makespan
            item = by_head[position]
            if remote[item] <= theta:
                arrival = max(arrival, remote[item])
                continue
            used += memory[item]
            if local[item] >= INFINITE or used > room:
                possible = False
                break
            end = max(end, local[item]) + duration[item]
        if possible:
            best = min(best, max(arrival, end))
    return best
