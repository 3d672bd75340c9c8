"""Step 4 of Heavy-Edge: the shortest prefix of servers that holds a job, its last server by best fit (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from heuristics.jobs.placements.hall import supply_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit(cache=True)
def choose_servers(
    free: NDArray[np.int64],
    server_kind: NDArray[np.int64],
    usable_kinds: int,
    unions: NDArray[np.int64],
    slack: NDArray[np.int64],
    num_unions: int,
    free_of_kind: NDArray[np.int64],
    order: NDArray[np.int64],
    bucket: NDArray[np.int64],
    chosen: NDArray[np.int64],
) -> int:
    """Write the chosen servers and return their number, 0 if the job fits nowhere.

    Parameters
    ----------
    free, server_kind, free_of_kind
        Free GPUs of each server, its kind, and free GPUs of each kind.
    usable_kinds
        Kinds that some stage may use, a mask.
    unions, slack, num_unions
        Unions of sets of allowed kinds; the slack is minus the demand on entry, that of the chosen servers at the end.
    order, bucket
        Scratch.
    """
    for index in range(num_unions):
        if supply_of(unions[index], free_of_kind) + slack[index] < 0:
            return 0
    usable = _sort(free, server_kind, usable_kinds, order, bucket)
    length = 0
    while _lowest(slack, num_unions) < 0:
        _add(unions, slack, num_unions, server_kind[order[length]], free[order[length]])
        chosen[length] = order[length]
        length += 1
    last = chosen[length - 1]
    _add(unions, slack, num_unions, server_kind[last], -free[last])
    best = last
    for place in range(usable - 1, length - 2, -1):  # fewest free GPUs first, and the highest index among equals
        server = order[place]
        if best != last and free[server] > free[best]:
            break
        if (free[server] < free[best] or server < best) and _suffices(
            unions, slack, num_unions, server_kind[server], free[server]
        ):
            best = server
    chosen[length - 1] = best
    _add(unions, slack, num_unions, server_kind[best], free[best])
    return length


@njit(cache=True)
def _sort(
    free: NDArray[np.int64],
    server_kind: NDArray[np.int64],
    usable_kinds: int,
    order: NDArray[np.int64],
    bucket: NDArray[np.int64],
) -> int:
    """Write the usable servers by free GPUs, descending, then index, and return their number."""
    size, most = 0, 0
    for server in range(len(free)):
        most = max(most, free[server])
    if most >= len(bucket):
        for server in np.argsort(-free, kind="mergesort"):
            if free[server] > 0 and usable_kinds >> server_kind[server] & 1:
                order[size] = server
                size += 1
        return size
    bucket[:] = 0
    for server in range(len(free)):
        if free[server] > 0 and usable_kinds >> server_kind[server] & 1:
            bucket[free[server]] += 1
    for gpus in range(most, 0, -1):
        bucket[gpus], size = size, size + bucket[gpus]
    for server in range(len(free)):
        if free[server] > 0 and usable_kinds >> server_kind[server] & 1:
            order[bucket[free[server]]] = server
            bucket[free[server]] += 1
    return size


@njit(cache=True)
def _lowest(slack: NDArray[np.int64], num_unions: int) -> int:
    """Return the smallest slack."""
    lowest: int = slack[0]
    for index in range(1, num_unions):
        lowest = min(lowest, slack[index])
    return lowest


@njit(cache=True)
def _add(unions: NDArray[np.int64], slack: NDArray[np.int64], num_unions: int, kind: int, gpus: int) -> None:
    """Raise the slacks for GPUs of a kind."""
    for index in range(num_unions):
        if unions[index] >> kind & 1:
            slack[index] += gpus


@njit(cache=True)
def _suffices(unions: NDArray[np.int64], slack: NDArray[np.int64], num_unions: int, kind: int, gpus: int) -> bool:
    """Say whether no slack is negative after GPUs of a kind are added."""
    for index in range(num_unions):  # noqa: SIM110 (Numba compiles no generators)
        if slack[index] + (gpus if unions[index] >> kind & 1 else 0) < 0:
            return False
    return True
