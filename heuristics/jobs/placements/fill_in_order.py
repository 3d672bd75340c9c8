"""The grouping in stage order: replicas one after the other, each on the first chosen server that will do (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import njit

from heuristics.jobs.placements.hall import book, can_place

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@njit(cache=True)
def fill_in_order(
    chosen_kind: NDArray[np.int64],
    room: NDArray[np.int64],
    counts: NDArray[np.int64],
    masks: NDArray[np.int64],
    left: NDArray[np.int64],
    unions: NDArray[np.int64],
    slack: NDArray[np.int64],
    num_unions: int,
) -> None:
    """Place all replicas of a job on the chosen servers, which suffice; parameters as in `grow`.

    A server that is full, or that a replica of this stage cannot use, is of no use to the next replica of the stage
    either: slacks and rooms only fall. So each stage walks over the servers once.
    """
    for s in range(len(masks)):
        c = 0
        while left[s] > 0:
            kind = chosen_kind[c]
            if room[c] == 0 or not masks[s] >> kind & 1 or not can_place(unions, slack, num_unions, masks[s], -1, kind):
                c += 1
                continue
            book(unions, slack, num_unions, masks[s], kind, 1)
            counts[s, c] += 1
            left[s] -= 1
            room[c] -= 1
