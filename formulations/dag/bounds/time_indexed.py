"""B10, time-indexed: what has started where by when, on buckets of time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.loads import window_load_lp
from formulations.dag.bounds.refuted_makespans import destructive
from formulations.dag.bounds.time_indexed_lp import CompletionLp, TimeIndexedLp, width_for
from formulations.dag.heads_and_tails import heads_and_tails, job_path_bounds, path_bound
from formulations.dag.time_grid import time_grid
from formulations.dag.windows import horizon
from formulations.integer_lp import dual_bound
from formulations.multipliers import dual_ascent, highs_multipliers
from instances.dag.contention import Contention
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from formulations.dag.heads_and_tails import HeadsAndTails
    from instances.dag.instance import DagInstance


def time_indexed(instance: DagInstance, objective: Objective, contention: Contention = Contention.NONE) -> int:
    """Return the bound of the time-indexed relaxation, proved by multipliers in exact integer arithmetic.

    The relaxation is that of `TimeIndexedLp`, on buckets so wide that it stays small (`TimeGrid` says why that is
    right). Always valid. Measured on 17 generated instances of 5 to 42 tasks: 0.948 of the optimal makespan on average
    in 0.5 s, where the best of the other bounds has 0.925; on 22 with several jobs 0.90 of the best known weighted
    completion in 0.7 s, where the others have 0.81; on jobs of one task without releases 0.997 to 1.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised. Weighted completion of a single job is its weight times the makespan.
    contention
        What transfers share; heads and tails know it. The relaxation holds with and without it.
    """
    around = heads_and_tails(instance, contention=contention)
    proven = path_bound(instance, objective, around)
    if instance.num_tasks == 0 or not around.allowed.any(axis=1).all():
        return proven
    if objective is Objective.MAKESPAN:
        return max(proven, time_indexed_makespan(instance, contention))
    if instance.num_jobs == 1:
        return max(proven, int(instance.weight[0]) * time_indexed_makespan(instance, contention))
    return max(proven, time_indexed_completion(instance, around))


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


LP_ENTRIES = 15_000
"""About how many entries the linear program has that HiGHS solves."""

ASCENT_ENTRIES = 300_000
"""About how many the one has whose prices are improved afterwards: milliseconds per round."""

ASCENT_ROUNDS = 300
"""Rounds of that."""

_LARGEST = 2**60
"""Costs of single columns stay below this, with room for their sums within 64 bits."""


def time_indexed_completion(instance: DagInstance, around: HeadsAndTails) -> int:
    """Return the bound on the weighted completion of several jobs; 0 where the instance is too large.

    HiGHS solves `CompletionLp` on buckets so wide that it has about `LP_ENTRIES` entries, where no job completes before
    the destructive bound of its own tasks alone. The multipliers, which are prices of the buckets of GPUs and of
    transfers, are carried over to buckets as narrow as `ASCENT_ENTRIES` allows and improved there: most of what wide
    buckets lose comes back, for far less than a solution on narrow ones would take. (Ours.)

    Parameters
    ----------
    instance
        What is scheduled.
    around
        Its heads and tails, without an assumption on the objective; at least one GPU is left for every task.
    """
    end = _end_of_grid(instance, around)
    heads, allowed, latest = around.heads, around.allowed, np.full(instance.durations.shape, end)
    if 8 * int(instance.weight.sum()) * (end + int(heads[allowed].max())) > _LARGEST:
        return 0
    width = width_for(instance, heads, latest, allowed, max_entries=ASCENT_ENTRIES)
    wide_width = width_for(instance, heads, latest, allowed, max_entries=LP_ENTRIES)
    if width is None or wide_width is None:
        return 0
    ratio = -(-wide_width // width)
    at_least = _each_alone(instance, around)
    wide = CompletionLp(instance, around, at_least, end=end, width=width * ratio)
    prices = highs_multipliers(wide.lp)
    if prices is None:
        prices = np.zeros(len(wide.lp.limit))
    best = dual_bound(wide.lp, wide.affordable(prices))
    if ratio > 1:
        narrow = CompletionLp(instance, around, at_least, end=end, width=width)
        start = carry_prices(wide, prices, narrow)
        improved = dual_ascent(narrow.lp, start, rounds=ASCENT_ROUNDS, project=narrow.affordable)
        best = max(best, dual_bound(narrow.lp, improved))
    return max(wide.constant + best, int(instance.weight @ at_least))


def _each_alone(instance: DagInstance, around: HeadsAndTails) -> NDArray[np.int64]:
    """Return a lower bound on the completion time of every job, shape (jobs,): as if the others were not there."""
    at_least, latest = job_path_bounds(instance, around), horizon(instance)
    for job in np.flatnonzero(np.bincount(instance.job_of_task, minlength=instance.num_jobs) > 1).tolist():
        alone = destructive(_alone(instance, job), Objective.MAKESPAN)
        at_least[job] = max(at_least[job], min(alone, latest))  # above that there is no schedule at all
    return at_least


def _alone(instance: DagInstance, job: int) -> DagInstance:
    """Return the tasks of a job and the edges between them."""
    tasks = np.flatnonzero(instance.job_of_task == job)
    position = np.full(instance.num_tasks, -1)
    position[tasks] = np.arange(len(tasks))
    edges = position[instance.edges]
    inside = (edges >= 0).all(axis=1)
    return replace(
        instance,
        durations=instance.durations[tasks],
        task_memory=instance.task_memory[tasks],
        job_of_task=np.zeros(len(tasks), dtype=np.int64),
        edges=edges[inside],
        edge_bytes=instance.edge_bytes[inside],
        release=instance.release[[job]],
        weight=instance.weight[[job]],
        task_names=tuple(instance.task_names[task] for task in tasks),
        job_names=(instance.job_names[job],),
    )


def _end_of_grid(instance: DagInstance, around: HeadsAndTails) -> int:
    """Return a tick by which nearly all work can be done; any value is right, see `CompletionLp`."""
    shortest = np.where(around.allowed, instance.durations, np.iinfo(np.int64).max).min(axis=1)
    work = int(instance.release.max()) + int(shortest.sum()) // instance.num_gpus
    return max(path_bound(instance, Objective.MAKESPAN, around), work) * 5 // 4 + 1


def carry_prices(wide: CompletionLp, prices: NDArray[np.float64], narrow: CompletionLp) -> NDArray[np.float64]:
    """Return multipliers of the rows of a program that mean what those of a coarser one mean (ours).

    The price of a bucket of a GPU is spread over the narrow ones inside it, smoothly. A transfer row at the end of a
    wide bucket follows from the narrow one at the same end, which gets its price; memory and jobs keep theirs.

    Parameters
    ----------
    wide, narrow
        Programs of the same instance and end; the width of `wide` is a multiple of that of `narrow`.
    prices
        Multipliers of the rows of `wide`.
    """
    ratio = wide.grid.width // narrow.grid.width
    carried = np.zeros(len(narrow.lp.limit))
    for k, block in narrow.capacity.items():
        if k in wide.capacity:
            known = wide.capacity[k]
            middles = (known.buckets + 0.5) * ratio - 0.5
            carried[block.rows] = np.interp(block.buckets, middles, prices[known.rows] / ratio)
    for pair, block in narrow.transfer.items():
        known = wide.transfer[pair]
        at_end = np.searchsorted(block.buckets, (known.buckets + 1) * ratio - 1)
        np.add.at(carried, block.rows[np.minimum(at_end, len(block.rows) - 1)], prices[known.rows])
    for k, row in narrow.memory.items():
        carried[row] = prices[wide.memory[k]]
    for (rows, _), (known_rows, _) in zip(narrow.job_rows, wide.job_rows, strict=True):
        carried[rows] = prices[known_rows]
    return carried
