"""Makespans that the time-indexed relaxation refutes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.destructive import destructive
from formulations.dag.bounds.dual_bound import dual_bound
from formulations.dag.bounds.highs_multipliers import highs_multipliers
from formulations.dag.bounds.time_indexed_lp import TimeIndexedLp, width_for
from formulations.dag.bounds.window_load import window_load_lp
from formulations.dag.heads_and_tails import heads_and_tails
from formulations.dag.time_grid import time_grid
from formulations.dag.windows import horizon
from instances.contention import Contention
from instances.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.dag_instance import DagInstance

ENTRIES = (2_000, 8_000)
"""About how many entries the linear programs have: first small ones, then larger ones from where those ended."""

FIRST_STEP = 128
"""The first makespan that is tried lies above the refuted one by its share 1 / FIRST_STEP."""

RESOLUTION = 256
"""The largest refuted makespan is found up to its share 1 / RESOLUTION, and exactly below that many ticks."""


def time_indexed_makespan(instance: DagInstance, contention: Contention = Contention.NONE) -> int:
    """Return one more than a makespan that is refuted, at least the destructive bound.

    A makespan of at most C gives every task a window on every GPU, by heads and tails that use C, and the load rows of
    the window-load linear program under the deadline C. If every point of `TimeIndexedLp` with these windows and rows
    leaves a part of some task late, C is refuted: `dual_bound` proves that the sum of the late columns is positive.
    That is stronger than minimising the makespan within windows that follow from a known schedule: on the example of
    the HEFT paper 72 is refuted and 73 optimal, where the minimum is 67. Load rows keep what rounding to buckets takes
    from the capacity of GPUs. (Destructive scheme: Klein and Scholl 1999; this use is ours.)

    Parameters
    ----------
    instance
        What is scheduled; at least one task.
    contention
        What transfers share; heads and tails know it.
    """
    refuted, latest = destructive(instance, Objective.MAKESPAN, contention) - 1, horizon(instance)
    for max_entries in ENTRIES:
        is_refuted = partial(_is_refuted, instance, max_entries=max_entries, contention=contention)
        refuted = _search(refuted, latest, is_refuted)
    return refuted + 1


def _search(refuted: int, latest: int, is_refuted: Callable[[int], bool]) -> int:
    """Return a refuted makespan beside one that is not, from a refuted one on: growing steps, then bisection.

    Makespans beyond `latest` are not tried: some optimal schedule ends by then, if there is one at all.
    """
    step = max(1, refuted // FIRST_STEP)
    while refuted < latest and is_refuted(refuted + step):
        refuted += step
        step *= 2
    not_refuted = refuted + step
    while refuted < latest and not_refuted - refuted > max(1, refuted // RESOLUTION):
        middle = (refuted + not_refuted) // 2
        if is_refuted(middle):
            refuted = middle
        else:
            not_refuted = middle
    return refuted


def _is_refuted(instance: DagInstance, makespan: int, *, max_entries: int, contention: Contention) -> bool:
    """Say whether it is proved that no schedule has at most this makespan."""
    around = heads_and_tails(instance, makespan_at_most=makespan, contention=contention)
    if not around.allowed.any(axis=1).all():
        return True
    latest = makespan - around.tails - instance.durations
    width = width_for(instance, around.heads, latest, around.allowed, max_entries=max_entries)
    if width is None:
        return False
    grid = time_grid(instance, earliest=around.heads, latest=latest, allowed=around.allowed, width=width)
    program = TimeIndexedLp(instance, grid)
    program.add_loads(window_load_lp(instance, around, makespan, deadline=makespan)[1], makespan)
    cost = np.zeros(program.num_columns, dtype=np.int64)
    cost[program.late] = 1
    lp = program.finish(cost)
    multipliers = highs_multipliers(lp)
    return multipliers is not None and dual_bound(lp, multipliers) > 0
