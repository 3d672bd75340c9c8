"""Whether the work that must be done in some windows of time fits on the GPUs, and what prices of load rows prove."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.probing.assignment_simplex import OPTIMAL, least_largest_load
from formulations.dag.probing.load_rows import MAX_ROWS, Loads, crowded_window, fill_row, place_for, tightest_window
from formulations.dag.probing.tighten import remove_pair
from instances.kernels import inner_kernel, sort_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formulations.dag.probing.network import Network
    from formulations.dag.probing.tighten import State


@inner_kernel
def proven_slack(net: Network, state: State, loads: Loads) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """Return the slack that the prices prove, which is negative if they refute the deadline, and the costs.

    With integer multipliers u >= 0 every placement within the rows satisfies

        sum_i min_k (sum_r u[k,r] ticks[k,i,r]) <= sum_(k,r) u[k,r] limit[k,r].

    If the left-hand side is larger there is no placement. Everything is in 64-bit integers: the multipliers are scaled
    so that nothing overflows, and rounded down; any non-negative ones are valid (docs/bounds.md, sections 1.3 and 3.9).

    Returns
    -------
    tuple
        Right-hand side minus left-hand side; the sum after min_k for all pairs that are allowed, shape (n, m); the
        least of it, shape (n,).
    """
    n, m = net.durations.shape
    total, largest = 0.0, 1
    for k in range(m):
        for r in range(loads.num_rows[k]):
            if loads.limit[k, r] > 0:
                total += loads.price[k, r] / loads.limit[k, r]
                largest = max(largest, loads.limit[k, r])
                for task in range(n):
                    largest = max(largest, loads.ticks[k, task, r])
    cost, least = np.zeros((n, m), dtype=np.int64), np.zeros(n, dtype=np.int64)
    if not 0.0 < total < np.inf:  # nothing has a price, or rounding errors took over
        return 0, cost, least
    scale = 2.0**60 / (n + 1) / largest / total
    multiplier = np.zeros((m, MAX_ROWS), dtype=np.int64)
    spare = 0
    for k in range(m):
        for r in range(loads.num_rows[k]):
            if loads.limit[k, r] > 0:
                multiplier[k, r] = int(loads.price[k, r] / loads.limit[k, r] * scale)
                spare += multiplier[k, r] * loads.limit[k, r]
    for task in range(n):
        first = True
        for k in range(m):
            if not state.allowed[task, k]:
                continue
            for r in range(loads.num_rows[k]):
                cost[task, k] += multiplier[k, r] * loads.ticks[k, task, r]
            if first or cost[task, k] < least[task]:
                least[task], first = cost[task, k], False
    for task in range(n):
        spare -= least[task]
    return spare, cost, least


@inner_kernel
def reduce_by_prices(net: Network, state: State, loads: Loads) -> int:
    """Remove pairs whose cost exceeds the slack; return how many, -1 if the prices refute the deadline.

    If the left-hand side of `proven_slack` is larger than the right-hand side once task i is charged for GPU k instead
    of its cheapest one, there is no placement with i on k (fixing by reduced costs).
    """
    n, m = net.durations.shape
    spare, cost, least = proven_slack(net, state, loads)
    if spare < 0:
        return -1
    removed = 0
    for task in range(n):
        for k in range(m):
            if state.allowed[task, k] and cost[task, k] - least[task] > spare:
                remove_pair(net, state, task, k)  # its cheapest GPU stays
                removed += 1
    return removed


FITS, REFUTED, UNDECIDED = 0, 1, 2


class Effort(NamedTuple):
    """How thorough a test is; passed as a whole because Numba compiles a function again for every literal."""

    rounds: int  # linear programs at most
    enough: float  # end one where no row is fuller than this; 0 solves all of them to the end, for useful prices
    is_thorough: bool  # separate windows in which tasks must do a part of their work, too


@inner_kernel
def loads_refute(
    net: Network, state: State, deadline: int, loads: Loads, effort: Effort, work: NDArray[np.int64]
) -> int:
    """Say whether no fractional placement keeps all windows: REFUTED is proved in integers, FITS and UNDECIDED are not.

    A task on k that starts at H[i,k] or later and ends T[i,k] before the deadline C or earlier does at least

        ov[i,k](a, b) = min(|[H, H + p] in [a, C - b]|, |[C - T - p, C - T] in [a, C - b]|)

    of its work inside [a, C - b], because the overlap is least at an end of its window of starts. So sum_i ov[i,k]
    x[i,k] <= C - a - b for every k, a, b; see `proven_slack` for the proof by multipliers. Rows are separated in
    rounds: those of windows in which tasks must lie as a whole, and, if thorough, those of any window.

    Parameters
    ----------
    net, state, deadline
        The instance and its windows; nothing is due.
    loads
        Rows and a nearby placement to begin with; changed.
    effort
        If thorough, the first linear program is solved in any case.
    work
        Elementary steps so far, and the number from which on nothing more is begun, shape (2,): then UNDECIDED.
    """
    n, m = net.durations.shape
    _make_whole(state, loads.placement)
    loads.is_stale[:] = True
    # Every round separates rows that the placement violates, and solves the linear program with them.
    for number in range(effort.rounds + 1):
        if (number > 0 or not effort.is_thorough) and not _separate(net, state, deadline, loads, effort, work):
            return FITS
        if number == effort.rounds or work[0] > work[1]:
            return UNDECIDED
        for k in range(m):
            for r in range(loads.num_rows[k]):
                if loads.is_stale[k, r]:
                    fill_row(net, state, deadline, loads, k, r)
                    work[0] += 4 * n
        for task in range(n):
            loads.key[task] = -1
            for k in range(m):
                if state.allowed[task, k] and (
                    loads.key[task] < 0 or loads.placement[task, k] > loads.placement[task, loads.key[task]]
                ):
                    loads.key[task] = k
        largest, status = least_largest_load(
            state.allowed,
            loads.num_rows,
            loads.share,
            loads.key,
            loads.placement,
            loads.price,
            loads.tableau,
            effort.enough,
            20 * n + 100,
            work,
        )
        if status == OPTIMAL and largest > 1.0 + 1e-9:
            return REFUTED if proven_slack(net, state, loads)[0] < 0 else UNDECIDED
    return UNDECIDED


@inner_kernel
def _make_whole(state: State, placement: NDArray[np.float64]) -> None:
    """Move shares from GPUs that are no longer allowed to the others."""
    n, m = placement.shape
    for task in range(n):
        total, count = 0.0, 0
        for k in range(m):
            if state.allowed[task, k]:
                total += placement[task, k]
                count += 1
        for k in range(m):
            if not state.allowed[task, k]:
                placement[task, k] = 0.0
            elif total < 1e-3:
                placement[task, k] = 1.0 / count
            else:
                placement[task, k] /= total


@inner_kernel
def _separate(net: Network, state: State, deadline: int, loads: Loads, effort: Effort, work: NDArray[np.int64]) -> bool:
    """Add the window of each GPU that the placement overfills most, and say whether one of them is new."""
    n, m = net.durations.shape
    tasks, amount = np.empty(n, dtype=np.int64), np.empty(n)
    head, latest, duration = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    by_head, scratch = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    tolerance = 2e-4 * deadline
    added = False
    for k in range(m):
        size = 0
        for task in range(n):
            is_open = deadline - state.tails[task, k] > loads.since[k]
            if loads.placement[task, k] > 1e-7 and net.durations[task, k] > 0 and is_open:
                tasks[size] = task
                size += 1
        if size == 0:
            continue
        for position in range(size):
            head[position] = state.heads[tasks[position], k]
        sort_by(head, size, by_head, scratch)
        for position in range(size):
            task = tasks[by_head[position]]
            head[position] = state.heads[task, k]
            latest[position] = deadline - state.tails[task, k]
            duration[position] = net.durations[task, k]
            amount[position] = loads.placement[task, k]
        for family in range(2 if effort.is_thorough else 1):
            work[0] += size * size * (1 if family == 0 else 40)
            if work[0] > work[1]:
                return True  # this looks as if there were more to do; the caller does not begin it
            if family == 0:
                opens, ends, excess = tightest_window(size, head, latest, duration, amount)
            else:
                opens, ends, excess = crowded_window(size, head, latest, duration, amount)
            if excess > tolerance or (family == 1 and excess > 0.01 * (ends - opens)):
                row = place_for(loads, k, opens, deadline - ends)
                if row >= 0:
                    loads.opens[k, row], loads.closes[k, row], loads.price[k, row] = opens, deadline - ends, 0.0
                    loads.is_stale[k, row] = True
                    added = True
    return added
