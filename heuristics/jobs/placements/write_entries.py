"""What a kernel of placements hands back (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import njit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NONE = -1
"""Instead of a number of entries: there is no placement."""

UNIONS_EXCEEDED = -2
"""Instead of a number of entries: the workspace is too small for the unions of the job."""


@njit(cache=True)
def write_entries(
    chosen: NDArray[np.int64],
    counts: NDArray[np.int64],
    num_chosen: int,
    num_stages: int,
    entry_stage: NDArray[np.int64],
    entry_server: NDArray[np.int64],
    entry_count: NDArray[np.int64],
) -> int:
    """Write the entries of a placement in order of stage, then server, and return their number.

    `counts` holds the replicas of each stage on each of the first `num_chosen` chosen servers.
    """
    size = 0
    for s in range(num_stages):
        first = size
        for c in range(num_chosen):
            if counts[s, c] == 0:
                continue
            place = size
            while place > first and entry_server[place - 1] > chosen[c]:
                entry_server[place], entry_count[place] = entry_server[place - 1], entry_count[place - 1]
                place -= 1
            entry_server[place], entry_count[place] = chosen[c], counts[s, c]
            entry_stage[size] = s
            size += 1
    return size
