"""Linear programs over patterns and time, in equal buckets or growing intervals, and the best of all bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.integer_lp import Domain, RowBuilder, dual_bound
from formulations.jobs.bounds.single_machine import sets_of_kinds, work_per_gpu
from formulations.jobs.left_shift import list_schedule
from formulations.jobs.pattern_table import all_gpus, pattern_table
from formulations.multipliers import highs_multipliers
from formulations.time_left import without_limit
from instances.jobs.objective import objective_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from formulations.jobs.pattern_table import PatternTable
    from formulations.jobs.placement_patterns import JobPattern
    from instances.jobs.instance import JobsInstance
    from instances.jobs.objective import JobsObjective


class PatternLp:
    """Columns S[i,p,b] (job i in pattern p has happened by the end of step b) and late[i] (after all steps).

    What "happened" means, a start or a completion, is up to the caller; a job happens once. With X[i,p,b] = S[i,p,b] -
    S[i,p,b-1]:

        sum over p of S[i,p,last] + late[i] = 1, S never falls     (the domain)
        cost = sum over i, p, b of cost[i,p,b] X[i,p,b] + late_cost[i] late[i]

    Parameters
    ----------
    first
        First step in which each pattern of each job can happen; it may lie after the last one.

    Attributes
    ----------
    rows
        Filled by the caller.
    """

    def __init__(self, table: PatternTable, first: Sequence[Sequence[int]], num_steps: int) -> None:
        self.rows, self.num_steps = RowBuilder(), num_steps
        self._first = [list(own) for own in first]
        self._offset: list[list[int]] = []
        self._late: list[int] = []
        chain_starts, group_starts, column = [], [0], 0
        for own in self._first:
            offsets = []
            for begin in own:
                offsets.append(column if begin < num_steps else -1)
                if begin < num_steps:
                    chain_starts.append(column)
                    column += num_steps - begin
            self._offset.append(offsets)
            chain_starts.append(column)
            self._late.append(column)
            column += 1
            group_starts.append(len(chain_starts))
        self._chain_starts = np.array([*chain_starts, column], dtype=np.int64)
        self._group_starts = np.array(group_starts, dtype=np.int64)
        self._cost = np.zeros(column, dtype=np.int64)

    def set_costs(self, job: int, late_cost: int, cost: Callable[[int, NDArray[np.int64]], NDArray[np.int64]]) -> None:
        """Set the costs of a job: that of a pattern at some steps, and the one after all steps."""
        self._cost[self._late[job]] = late_cost
        for pattern, offset in enumerate(self._offset[job]):
            if offset >= 0:
                steps = np.arange(self._first[job][pattern], self.num_steps)
                values = cost(pattern, steps)
                self._cost[offset + steps - steps[0]] = values - np.append(values[1:], 0)

    def put(self, rows: NDArray[np.int64], job: int, pattern: int, steps: NDArray[np.int64], entries: int) -> None:
        """Add entries S[i,p,b] to rows, one step per row; a step before the first one adds nothing."""
        offset, first = self._offset[job][pattern], self._first[job][pattern]
        if offset >= 0:
            exists = steps >= first
            self.rows.put(rows[exists], offset + steps[exists] - first, entries)

    def proven_bound(self, seconds_left: Callable[[], float]) -> int:
        """Return what the multipliers of HiGHS prove in exact integer arithmetic, at least 0."""
        none = np.zeros(0, dtype=np.int64)
        domain = Domain(chain_starts=self._chain_starts, group_starts=self._group_starts, lower=none, upper=none)
        lp = self.rows.program(self._cost, domain)
        value = dual_bound(lp, np.zeros(len(lp.limit)))  # every job at once: no multipliers needed
        multipliers = highs_multipliers(lp, seconds_left) if len(lp.limit) and seconds_left() > 0 else None
        if multipliers is not None:
            value = max(value, dual_bound(lp, multipliers))
        return max(0, value)


MAX_COLUMNS = 10_000
"""Columns up to which a program takes seconds."""

MAX_PATTERNS = 400
"""Patterns of all jobs up to which servers or kinds are told apart: beyond, fine buckets matter more."""

LARGEST = 2**62
"""Numbers of this size and more are not computed in 64 bits; if costs are among them, the bound is 0."""

MAX_JOBS_LISTED = 300
"""Jobs up to which a list schedule says where the grid may end; beyond, their work says it."""


def jobs_time_indexed(
    instance: JobsInstance,
    objective: JobsObjective,
    *,
    max_columns: int = MAX_COLUMNS,
    seconds_left: Callable[[], float] = without_limit,
) -> int:
    """Return the bound of the time-indexed linear program on sum w C in ticks, proved by multipliers in integers.

    Time is cut into buckets of W ticks. X[i,p,b] = 1 if job i starts in pattern p in bucket b, late[i] = 1 if it starts
    after the grid, where it holds nothing:

        sum over p, b of X[i,p,b] + late[i] = 1
        sum over i, p of usage[p,v] * (sum of X[i,p,a] over b - floor(d[i,p] / W) < a <= b) <= capacity[v]
                                                                                            for every v and b
        minimise sum of w[i] (max(r[i], b W) + d[i,p]) X[i,p,b] + w[i] (end of the grid + least d[i]) late[i]

    The capacity rows look at the last tick of bucket b: a job that started in bucket a <= b has started by then, and as
    a W + d >= (b + 1) W it has not ended. So every schedule is a point, whatever W and the end of the grid.

    Patterns are those of `pattern_table`, on servers with exact durations if they are few; otherwise by kind, or of one
    pool of all GPUs with d^lb. Where more detail makes W larger than 1, the pool is tried as well, and the larger bound
    is returned. When no seconds are left, what is proved so far is. Under interference the rows count who holds a GPU
    at a tick, so they hold with the capacity times the number of jobs that may share one. Cost: about `max_columns`
    columns, seconds (docs/bounds.md, sections 7.8 and 7.10).

    References
    ----------
    Sousa and Wolsey (1992), for W = 1; buckets, late columns and patterns are ours.
    """
    if not instance.num_jobs:
        return 0
    pool = all_gpus(instance)
    if instance.num_jobs > MAX_PATTERNS:
        return _on_grid(instance, objective, pool, max_columns, seconds_left)[0]
    table = pattern_table(instance, max_listed=MAX_PATTERNS, seconds_left=seconds_left)
    value, width = _on_grid(instance, objective, table, max_columns, seconds_left)
    if width > 1 and table.num_patterns > pool.num_patterns and seconds_left() > 0:  # one pool has finer buckets
        value = max(value, _on_grid(instance, objective, pool, max_columns, seconds_left)[0])
    return value


def _on_grid(
    instance: JobsInstance,
    objective: JobsObjective,
    table: PatternTable,
    max_columns: int,
    seconds_left: Callable[[], float],
) -> tuple[int, int]:
    """Return the bound of a table and the ticks per bucket."""
    weights, release = objective_weights(instance, objective).tolist(), instance.release.tolist()
    least = table.least_durations.tolist()
    if instance.num_jobs <= MAX_JOBS_LISTED:
        made = list_schedule(table, release, weights)
        last = max(made.start)
    else:
        work = sum(gang * ticks for gang, ticks in zip(instance.gang_size.tolist(), least, strict=True))
        last = max(release) + work // instance.num_gpus
    num_patterns = table.num_patterns
    width = min(max(1, -(-(last + 1) * num_patterns // max_columns)), last + 1)
    if max(weights) * (2 * (last + 1) + max(release) + max(map(_longest, table.patterns))) >= LARGEST:
        return 0, width
    num_buckets = last // width + 1
    lp = PatternLp(table, [[release[job] // width] * len(own) for job, own in enumerate(table.patterns)], num_buckets)
    buckets = np.arange(num_buckets)
    for job, own in enumerate(table.patterns):
        late = weights[job] * (max(release[job], num_buckets * width) + least[job])
        durations = [pattern.duration for pattern in own]
        lp.set_costs(
            job,
            late,
            lambda pattern, steps, job=job, durations=durations: (  # type: ignore[misc]  # bound at once
                weights[job] * (np.maximum(steps * width, release[job]) + durations[pattern])
            ),
        )
    for group, capacity in enumerate((instance.share * table.capacity).tolist()):
        rows = lp.rows.add(np.full(num_buckets, capacity))
        for job, own in enumerate(table.patterns):
            for number, pattern in enumerate(own):
                count, full = int(pattern.usage[group]), pattern.duration // width
                if count and full:
                    lp.put(rows, job, number, buckets, count)
                    lp.put(rows, job, number, buckets - full, -count)
    return lp.proven_bound(seconds_left), width


def _longest(patterns: tuple[JobPattern, ...]) -> int:
    """Return the longest duration of a job in ticks."""
    return max(pattern.duration for pattern in patterns)


MAX_INTERVALS = 150
"""Number of intervals at most; finer grids gain little."""

MAX_WINDOWS = 12
"""Number of releases, at most, from which on the work is counted."""


def interval_indexed(
    instance: JobsInstance,
    objective: JobsObjective,
    *,
    max_columns: int = MAX_COLUMNS,
    seconds_left: Callable[[], float] = without_limit,
) -> int:
    """Return the bound of the interval-indexed linear program on sum w C in ticks, proved by multipliers in integers.

    With tau_0 < tau_1 < ... < tau_L, tau_0 before every completion, X[i,p,l] = 1 if job i completes in pattern p in
    (tau_l, tau_(l+1)], late[i] = 1 if it completes after tau_L:

        sum over p, l of X[i,p,l] + late[i] = 1
        sum over i with r[i] >= rho, p and l' <= l of usage[p,v] d[i,p] X[i,p,l'] <= capacity[v] (tau_(l+1) - rho)
                                                                         for every v, l and some releases rho
        minimise sum of w[i] max(tau_l + 1, r[i] + d[i,p]) X[i,p,l] + w[i] max(tau_L + 1, r[i] + least d[i]) late[i]

    A job that is released at rho or later and has completed by tau_(l+1) held its GPUs for its whole duration within
    these two times, and no more than the capacity is held at any time. So every schedule is a point, whatever the tau.
    Under interference the rows hold with Phi capacity[v], see `VirtualMachineJobs`. Cost: about `max_columns` columns,
    seconds (docs/bounds.md, sections 7.9 and 7.10).

    References
    ----------
    Hall, Schulz, Shmoys and Wein (1997), for machines; patterns, windows from releases on, ends in ticks are ours.
    """
    if not instance.num_jobs:
        return 0
    weights, release = objective_weights(instance, objective).tolist(), instance.release.tolist()
    table = all_gpus(instance)
    if instance.num_jobs <= MAX_PATTERNS:
        table = pattern_table(instance, max_listed=MAX_PATTERNS, seconds_left=seconds_left)
    least = table.least_durations.tolist()
    heads = [begin + ticks for begin, ticks in zip(release, least, strict=True)]
    work = sum(int(own[0].usage.sum()) * ticks for own, ticks in zip(table.patterns, least, strict=True))
    last = max(max(heads), max(release) + work // instance.num_gpus) + 1
    if max(weights) * 2 * (last + max(heads)) >= LARGEST:
        return 0
    num_intervals = int(min(MAX_INTERVALS, max(2, max_columns // table.num_patterns)))
    tau = _cuts(min(heads) - 1, last, num_intervals)
    first = [
        [int(np.searchsorted(tau, release[job] + pattern.duration)) - 1 for pattern in own]
        for job, own in enumerate(table.patterns)
    ]
    lp = PatternLp(table, first, len(tau) - 1)
    steps = np.arange(len(tau) - 1)
    for job, own in enumerate(table.patterns):
        ends = [release[job] + pattern.duration for pattern in own]
        lp.set_costs(
            job,
            weights[job] * max(int(tau[-1]) + 1, heads[job]),
            lambda pattern, steps, job=job, ends=ends: (  # type: ignore[misc]  # bound at once
                weights[job] * np.maximum(tau[steps] + 1, ends[pattern])
            ),
        )
    different = sorted(set(release))
    above, below = work_per_gpu(instance)
    chosen = different[:: -(-len(different) // MAX_WINDOWS)]
    for begin in chosen:
        if seconds_left() <= 0:
            break  # fewer rows prove less
        within = [job for job in range(instance.num_jobs) if release[job] >= begin]
        used = steps[tau[1:] > begin]
        for group, capacity in enumerate(table.capacity.tolist()):
            limits = [above * capacity * (end - begin) for end in tau[1:][used].tolist()]
            if max(limits, default=0) >= LARGEST:
                continue  # rows and entries that 64 bits do not hold are left out, which is right
            rows = lp.rows.add(np.array(limits, dtype=np.int64))
            for job in within:
                for number, pattern in enumerate(table.patterns[job]):
                    demand = below * int(pattern.usage[group]) * pattern.duration
                    if 0 < demand < LARGEST:
                        lp.put(rows, job, number, used, demand)
    return lp.proven_bound(seconds_left)


def _cuts(low: int, high: int, num_intervals: int) -> NDArray[np.int64]:
    """Return increasing integers from `low` to `high`: all of them, or half evenly spaced and half growing."""
    if high - low <= num_intervals:
        return np.arange(low, high + 1, dtype=np.int64)
    even = np.linspace(low, high, num_intervals // 2 + 1)
    growing = low + np.geomspace(1.0, high - low, num_intervals - num_intervals // 2)
    return np.unique(np.rint(np.concatenate([even, growing])).astype(np.int64))


MAX_JOBS_FOR_LPS = 2_000
"""Jobs up to which the linear programs take seconds."""


def portfolio(instance: JobsInstance, objective: JobsObjective) -> int:
    """Return the largest of all bounds on sum w C in ticks; above `MAX_JOBS_FOR_LPS` jobs without linear programs.

    `sets_of_kinds` is never below virtual SRPT, release plus duration, mean busy time and the rank-wise bound.
    """
    best = sets_of_kinds(instance, objective)
    if instance.num_jobs <= MAX_JOBS_FOR_LPS:
        best = max(best, jobs_time_indexed(instance, objective), interval_indexed(instance, objective))
    return best
