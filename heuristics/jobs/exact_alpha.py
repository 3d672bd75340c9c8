"""The iteration time of a placement in integers of 64 bits, and its comparison with another one, exactly (Numba).

The twin of `instances.jobs.iteration_time` for hot loops. The bytes of a job are integers over one denominator, an
iteration time is a whole number and a proper fraction, and fractions are compared by their continued fractions, which
never leave the range of their terms. That all terms fit 64 bits is checked when the arrays are made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import njit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@njit(cache=True)
def compare_fractions(a: int, b: int, c: int, d: int) -> int:
    """Return the sign of a / b - c / d; a, c at least 0, b, d at least 1, all below 2**63."""
    while True:
        first, second = a // b, c // d
        if first != second:
            return -1 if first < second else 1
        a, c = a - first * b, c - second * d
        if a == 0 or c == 0:
            return (0 if c == 0 else -1) if a == 0 else 1
        a, b, c, d = d, c, b, a  # a / b < c / d if and only if d / c < b / a


@njit(cache=True)
def traffic(
    counts: NDArray[np.int64],
    chosen: NDArray[np.int64],
    num_chosen: int,
    replicas: NDArray[np.int64],
    ring_bytes: NDArray[np.int64],
    cut_bytes: NDArray[np.int64],
    nic_numerator: NDArray[np.int64],
    nic_denominator: NDArray[np.int64],
    uplinks: NDArray[np.int64],
) -> tuple[int, int]:
    """Return the largest bytes[v] / B[v] over the chosen servers as numerator and denominator, without the job's one.

    With racks, the largest over these and over bytes[R] / B[R] of the racks of chosen servers.

    Parameters
    ----------
    counts
        Replicas of each stage of the job on each chosen server, shape (at least its stages, at least `num_chosen`).
    chosen
        Servers, the first `num_chosen` of them count.
    replicas, ring_bytes, cut_bytes
        Those of the stages of the job, as in `JobsArrays`.
    nic_numerator, nic_denominator, uplinks
        As in `JobsArrays`.
    """
    numerator, denominator = 0, 1
    num_stages = len(replicas)
    for c in range(num_chosen):
        sent = 0
        for s in range(num_stages):
            x, k = counts[s, c], replicas[s]
            if 0 < x < k:
                sent += ring_bytes[s]
            if s + 1 < num_stages:
                y = counts[s + 1, c]
                sent += cut_bytes[s] * (x * (replicas[s + 1] - y) + y * (k - x))
        above, below = sent * nic_denominator[chosen[c]], nic_numerator[chosen[c]]
        if above > numerator if below == denominator else compare_fractions(above, below, numerator, denominator) > 0:
            numerator, denominator = above, below
    if len(uplinks) == 0:
        return numerator, denominator
    for c in range(num_chosen):
        rack, is_first = uplinks[chosen[c], 0], True
        for other in range(c):
            is_first &= uplinks[chosen[other], 0] != rack
        if rack < 0 or not is_first:
            continue
        sent, following = 0, 0  # replicas of this stage, then of the next one, behind the uplink
        for s in range(num_stages + 1):
            x, following = following, 0
            if s < num_stages:
                for other in range(c, num_chosen):
                    following += counts[s, other] if uplinks[chosen[other], 0] == rack else 0
            if s == 0:
                continue
            k = replicas[s - 1]
            if 0 < x < k:
                sent += ring_bytes[s - 1]
            if s < num_stages:
                sent += cut_bytes[s - 1] * (x * (replicas[s] - following) + following * (k - x))
        above, below = sent * uplinks[chosen[c], 2], uplinks[chosen[c], 1]
        if above > numerator if below == denominator else compare_fractions(above, below, numerator, denominator) > 0:
            numerator, denominator = above, below
    return numerator, denominator


@njit(cache=True)
def slowest_time(
    counts: NDArray[np.int64],
    chosen: NDArray[np.int64],
    num_chosen: int,
    time_of: NDArray[np.int64],
    server_kind: NDArray[np.int64],
) -> int:
    """Return max_s t[s](x), the time of the slowest replica in ticks; `time_of` holds the stages of the job only."""
    slowest = 0
    for c in range(num_chosen):
        kind = server_kind[chosen[c]]
        for s in range(len(time_of)):
            if counts[s, c] > 0:
                slowest = max(slowest, time_of[s, kind])
    return slowest
