"""B10, time-indexed: a linear program over what has started where by when, on buckets of time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.loads import window_load_lp
from formulations.dag.bounds.refuted_makespans import destructive
from formulations.dag.bounds.time_indexed_lp import CompletionLp, TimeIndexedLp, width_for
from formulations.dag.heads_and_tails import heads_and_tails, job_path_bounds, path_bound
from formulations.dag.probing.refuter import largest_refuted
from formulations.dag.subproblem import part_of
from formulations.dag.time_grid import time_grid
from formulations.dag.windows import horizon
from formulations.integer_lp import dual_bound
from formulations.multipliers import dual_ascent, highs_multipliers
from formulations.time_left import without_limit
from instances.dag.contention import Contention
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from formulations.dag.heads_and_tails import HeadsAndTails
    from instances.dag.instance import DagInstance


def time_indexed(
    instance: DagInstance,
    objective: Objective,
    contention: Contention = Contention.NONE,
    *,
    seconds_left: Callable[[], float] = without_limit,
) -> int:
    """Return the bound of the time-indexed relaxation (B10), proved by multipliers in exact integer arithmetic.

    The relaxation is that of `TimeIndexedLp`, on buckets so wide that it stays small (`TimeGrid` says why that is
    valid); the weighted completion of a single job is its weight times the makespan. It holds with and without
    contention; heads and tails use the rule that is given. Cost: about a second (docs/bounds.md, section 3.11, also
    says how strong it is).
    """
    around = heads_and_tails(instance, contention=contention)
    proven = path_bound(instance, objective, around)
    if instance.num_tasks == 0 or not around.allowed.any(axis=1).all():
        return proven
    if Objective(objective) is Objective.MAKESPAN:
        return max(proven, time_indexed_makespan(instance, contention, seconds_left))
    if instance.num_jobs == 1:
        return max(proven, int(instance.weight[0]) * time_indexed_makespan(instance, contention, seconds_left))
    return max(proven, time_indexed_completion(instance, around, seconds_left))


ENTRIES = (2_000, 8_000)
"""Approximate numbers of entries of the linear programs: first small ones, then larger ones from where those ended."""

FIRST_STEP = 128
"""The first makespan that is tried exceeds the refuted one by 1 / FIRST_STEP of it."""

RESOLUTION = 256
"""The largest refuted makespan is found to within 1 / RESOLUTION of it, and exactly below that many ticks."""


def time_indexed_makespan(
    instance: DagInstance, contention: Contention = Contention.NONE, seconds_left: Callable[[], float] = without_limit
) -> int:
    """Return one more than a makespan that is refuted, at least the destructive bound.

    A makespan of at most C gives every task a window on every GPU, by heads and tails that use C, and the load rows of
    the window-load program under the deadline C. If every point of `TimeIndexedLp` with these windows and rows has a
    positive sum of late columns, which `dual_bound` proves, C is refuted. That is stronger than minimising the makespan
    within windows that follow from a known schedule: on the example of the HEFT paper 72 is refuted and 73 is optimal,
    where the minimum is 67. Load rows restore the capacity of GPUs that rounding to buckets loses. (Destructive scheme:
    Klein and Scholl 1999; this use is ours.)
    """
    refuted = destructive(instance, Objective.MAKESPAN, contention, seconds_left=seconds_left) - 1
    latest = horizon(instance)
    for max_entries in ENTRIES:
        is_refuted = partial(
            _is_refuted, instance, max_entries=max_entries, contention=contention, seconds_left=seconds_left
        )
        refuted = largest_refuted(refuted, is_refuted, first_step=FIRST_STEP, resolution=RESOLUTION, latest=latest)
    return refuted + 1


def _is_refuted(
    instance: DagInstance, makespan: int, *, max_entries: int, contention: Contention, seconds_left: Callable[[], float]
) -> bool:
    """Say whether it is proved, in the seconds that are left, that no schedule has at most this makespan."""
    if seconds_left() <= 0:
        return False
    around = heads_and_tails(instance, makespan_at_most=makespan, contention=contention)
    if not around.allowed.any(axis=1).all():
        return True
    latest = makespan - around.tails - instance.durations
    width = width_for(instance, around.heads, latest, around.allowed, max_entries=max_entries)
    if width is None:
        return False
    grid = time_grid(instance, earliest=around.heads, latest=latest, allowed=around.allowed, width=width)
    program = TimeIndexedLp(instance, grid)
    loads = window_load_lp(instance, around, makespan, deadline=makespan, seconds_left=seconds_left)[1]
    program.add_loads(loads, makespan)
    cost = np.zeros(program.num_columns, dtype=np.int64)
    cost[program.late] = 1
    lp = program.finish(cost)
    multipliers = highs_multipliers(lp, seconds_left)
    return multipliers is not None and dual_bound(lp, multipliers) > 0


LP_ENTRIES = 15_000
"""Approximate number of entries of the linear program that HiGHS solves."""

ASCENT_ENTRIES = 300_000
"""Approximate number of entries of the program whose prices are improved afterwards, at milliseconds per round."""

ASCENT_ROUNDS = 300
"""Rounds of `dual_ascent`."""

_LARGEST = 2**60
"""Costs of single columns stay below this, so that their sums fit into 64 bits."""


def time_indexed_completion(
    instance: DagInstance, around: HeadsAndTails, seconds_left: Callable[[], float] = without_limit
) -> int:
    """Return the bound on the weighted completion of several jobs; 0 where the instance is too large.

    HiGHS solves `CompletionLp` on wide buckets (about `LP_ENTRIES` entries), where no job completes before the
    destructive bound of its own tasks alone. Its multipliers are prices of GPUs and transfers in each bucket. They are
    carried over to buckets as narrow as `ASCENT_ENTRIES` allows and improved there, which recovers most of what wide
    buckets lose at a fraction of the cost of solving on narrow ones. (Ours.)

    Parameters
    ----------
    around
        Heads and tails without an assumption on the objective; at least one GPU is left for every task.
    seconds_left
        Seconds that are left; steps for which there are none are left out.
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
    at_least = _each_alone(instance, around, seconds_left)
    if seconds_left() <= 0:
        return int(instance.weight @ at_least)
    wide = CompletionLp(instance, around, at_least, end=end, width=width * ratio)
    prices = highs_multipliers(wide.lp, seconds_left)
    if prices is None:
        prices = np.zeros(len(wide.lp.limit))
    best = dual_bound(wide.lp, wide.affordable(prices))
    if ratio > 1 and seconds_left() > 0:
        narrow = CompletionLp(instance, around, at_least, end=end, width=width)
        start = carry_prices(wide, prices, narrow)
        improved = dual_ascent(
            narrow.lp, start, rounds=ASCENT_ROUNDS, project=narrow.affordable, seconds_left=seconds_left
        )
        best = max(best, dual_bound(narrow.lp, improved))
    return max(wide.constant + best, int(instance.weight @ at_least))


def _each_alone(instance: DagInstance, around: HeadsAndTails, seconds_left: Callable[[], float]) -> NDArray[np.int64]:
    """Return a lower bound on the completion time of every job as if it were alone, shape (jobs,)."""
    at_least, latest = job_path_bounds(instance, around), horizon(instance)
    for job in np.flatnonzero(np.bincount(instance.job_of_task, minlength=instance.num_jobs) > 1).tolist():
        if seconds_left() <= 0:
            break
        tasks = part_of(instance, np.flatnonzero(instance.job_of_task == job))
        alone = destructive(tasks, Objective.MAKESPAN, seconds_left=seconds_left)
        at_least[job] = max(at_least[job], min(alone, latest))  # above that there is no schedule at all
    return at_least


def _end_of_grid(instance: DagInstance, around: HeadsAndTails) -> int:
    """Return a tick by which nearly all work can be done; any value is valid, see `CompletionLp`."""
    shortest = np.where(around.allowed, instance.durations, np.iinfo(np.int64).max).min(axis=1)
    work = int(instance.release.max()) + int(shortest.sum()) // instance.num_gpus
    return max(path_bound(instance, Objective.MAKESPAN, around), work) * 5 // 4 + 1


def carry_prices(wide: CompletionLp, prices: NDArray[np.float64], narrow: CompletionLp) -> NDArray[np.float64]:
    """Return multipliers for a program that mean what those of a coarser program mean (ours).

    The price of a GPU in a wide bucket is spread smoothly over the narrow buckets inside it. A transfer row at the end
    of a wide bucket follows from the narrow one at the same end, which gets its price; memory and jobs keep theirs.

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
