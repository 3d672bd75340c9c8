"""What multipliers of load rows prove, in integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.probing.kernel import inner
from formulations.dag.probing.load_rows import MAX_ROWS, Loads
from formulations.dag.probing.tighten import remove_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formulations.dag.probing.network import Network
    from formulations.dag.probing.tighten import State


@inner
def spare_room(net: Network, state: State, loads: Loads) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """Return what the prices prove: spare room, which is negative where they refute the deadline, and costs.

    With integer multipliers u >= 0 every placement within the rows satisfies

        sum_i min_k (sum_r u[k,r] ticks[k,i,r]) <= sum_(k,r) u[k,r] room[k,r].

    Where the left-hand side is larger there is no placement. All in 64-bit integers: the multipliers are scaled so that
    nothing overflows, and rounded down; any non-negative ones are valid.

    Returns
    -------
    tuple
        Right-hand side minus left-hand side; the sum behind min_k for all pairs that are allowed, shape (n, m); the
        least of it, shape (n,).
    """
    n, m = net.durations.shape
    total, largest = 0.0, 1
    for k in range(m):
        for r in range(loads.num_rows[k]):
            if loads.room[k, r] > 0:
                total += loads.price[k, r] / loads.room[k, r]
                largest = max(largest, loads.room[k, r])
                for task in range(n):
                    largest = max(largest, loads.ticks[k, task, r])
    cost, least = np.zeros((n, m), dtype=np.int64), np.zeros(n, dtype=np.int64)
    if not 0.0 < total < np.inf:  # nothing has a price, or rounding errors took over
        return 0, cost, least
    scale = 2.0**60 / (n + 1) / largest / total
    multiplier = np.zeros((m, MAX_ROWS), dtype=np.int64)
    room = 0
    for k in range(m):
        for r in range(loads.num_rows[k]):
            if loads.room[k, r] > 0:
                multiplier[k, r] = int(loads.price[k, r] / loads.room[k, r] * scale)
                room += multiplier[k, r] * loads.room[k, r]
    for task in range(n):
        first = True
        for k in range(m):
            if not state.allowed[task, k]:
                continue
            for r in range(loads.num_rows[k]):
                cost[task, k] += multiplier[k, r] * loads.ticks[k, task, r]
            if first or cost[task, k] < least[task]:
                least[task], first = cost[task, k], False
    spare = room
    for task in range(n):
        spare -= least[task]
    return spare, cost, least


@inner
def reduce_by_prices(net: Network, state: State, loads: Loads) -> int:
    """Remove pairs that do not fit into the spare room; return how many, -1 where the prices refute the deadline.

    If the left-hand side of `spare_room` is larger than the right-hand side once task i is charged for GPU k instead of
    its cheapest one, there is no placement with i on k (fixing by reduced costs).
    """
    n, m = net.durations.shape
    spare, cost, least = spare_room(net, state, loads)
    if spare < 0:
        return -1
    removed = 0
    for task in range(n):
        for k in range(m):
            if state.allowed[task, k] and cost[task, k] - least[task] > spare:
                remove_pair(net, state, task, k)  # its cheapest GPU stays
                removed += 1
    return removed
