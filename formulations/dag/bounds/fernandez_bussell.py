"""B6, Fernandez-Bussell: how much later than a proven bound the work inside some window of time must end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from formulations.dag.bounds.path_bound import path_bound
from formulations.dag.heads_and_tails import HeadsAndTails, heads_and_tails
from instances.contention import Contention
from instances.objective import Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance

MAX_ENDS = 400
"""Openings and ends of windows that are tried at most, evenly chosen among all; any are valid."""


def fernandez_bussell(instance: DagInstance, objective: Objective, contention: Contention = Contention.NONE) -> int:
    """Return C0 + max(0, max over a < b of (ceil(W(a,b) / m) - (b - a))); C0 is the join-aware path bound.

    W is the sum over all tasks of min over k of the least overlap of i on k with [a,b], where its run may be shifted
    within [H[i,k], C0 - T[i,k]]:

        ov[i,k](a,b) = min(|[H, H + p] in [a,b]|, |[C0 - T - p, C0 - T] in [a,b]|),

    the left term alone where C0 - T - p < H. In a schedule of makespan C0 + q every run may lie up to q later, and does
    at least as much of its work in [a, b + q]: the early run does, since the window only grew; the late run is shifted
    by q, and so is the end of the window; and the least overlap is at one of the two. So m (b + q - a) >= W. Where
    C0 - T - p < H, such a schedule has q >= H - (C0 - T - p) =: e if i is on k at all; the late run is the early one,
    shifted by q - e, and [a, b + q] holds the window shifted by as much.

    Fernandez and Bussell (1973) for identical GPUs; with durations, heads and tails per GPU our own. Heads contain
    releases; GPUs that are not allowed do not count; a task of duration 0 does no work. Always valid. For weighted
    completion there is no such bound: 0.
    """
    if objective is not Objective.MAKESPAN or instance.num_tasks == 0:
        return 0
    around = heads_and_tails(instance, contention=contention)
    proven = path_bound(instance, objective, around)
    if not around.allowed.any(axis=1).all():
        return proven
    heads, latest = around.heads, proven - around.tails
    opens, ends = _windows(instance, around, proven)
    return proven + int(_delay(heads, latest, instance.durations, around.allowed, opens, ends))


def _windows(instance: DagInstance, around: HeadsAndTails, proven: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return openings (heads and latest starts) and ends (earliest finishes and latest finishes) worth a try."""
    heads, late_finish = around.heads, proven - around.tails
    starts = [heads, late_finish - instance.durations]
    finishes = [heads + instance.durations, late_finish]
    ends = np.iinfo(np.int64)
    first = [np.where(around.allowed, each, ends.max).min(axis=1) for each in starts]
    last = [np.where(around.allowed, each, ends.min).max(axis=1) for each in finishes]
    return _some(np.unique(first)), _some(np.unique(last))


def _some(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all values, or `MAX_ENDS` of them."""
    if len(values) <= MAX_ENDS:
        return values
    return values[np.linspace(0, len(values) - 1, MAX_ENDS).astype(np.int64)]


@njit(cache=True)
def _delay(
    heads: NDArray[np.int64],
    latest: NDArray[np.int64],
    durations: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    opens: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> int:
    """Return max(0, max over windows of (ceil(W / m) - (b - a)))."""
    n, m = durations.shape
    delay = 0
    for a in opens:
        for b in ends:
            if b <= a:
                continue
            work = 0
            for task in range(n):
                least = b - a
                for k in range(m):
                    if not allowed[task, k]:
                        continue
                    head, duration, late = heads[task, k], durations[task, k], latest[task, k] - durations[task, k]
                    least = min(least, max(min(head + duration, b) - max(head, a), 0))
                    if late > head:
                        least = min(least, max(min(late + duration, b) - max(late, a), 0))
                    if least == 0:
                        break
                work += least
            delay = max(delay, -(-work // m) - (b - a))
    return delay
