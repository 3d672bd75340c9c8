"""The time-indexed linear program over patterns, on a grid of buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.jobs.bounds.pattern_lp import PatternLp
from formulations.jobs.list_schedule import list_schedule
from formulations.jobs.pattern_table import all_gpus, pattern_table
from instances.jobs.jobs_objective import objective_weights

if TYPE_CHECKING:
    from formulations.jobs.pattern_table import PatternTable
    from formulations.jobs.placement_patterns import JobPattern
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective

MAX_COLUMNS = 10_000
"""Columns up to which the program takes seconds."""

MAX_PATTERNS = 400
"""Patterns of all jobs up to which servers or kinds are told apart: buckets matter more than placements beyond."""

LARGEST = 2**62
"""Costs of this size and more are not computed in 64 bits; the bound is then 0."""

MAX_JOBS_LISTED = 300
"""Jobs up to which a list schedule says where the grid may end; more of them are bounded by their work."""


def time_indexed(instance: JobsInstance, objective: JobsObjective, *, max_columns: int = MAX_COLUMNS) -> int:
    """Return the bound of the time-indexed linear program on sum w C in ticks, proved by multipliers in integers.

    Time is cut into buckets of W ticks. X[i,p,b] = 1 if job i starts in pattern p in bucket b, late[i] = 1 if it starts
    after the grid, where it holds nothing:

        sum over p, b of X[i,p,b] + late[i] = 1
        sum over i, p of usage[p,v] * (sum of X[i,p,a] over b - floor(d[i,p] / W) < a <= b) <= capacity[v]
                                                                                            for every v and b
        minimise sum of w[i] (max(r[i], b W) + d[i,p]) X[i,p,b] + w[i] (end of the grid + least d[i]) late[i]

    The capacity rows look at the last tick of bucket b: a job that started in bucket a <= b has started by then, and as
    a W + d >= (b + 1) W it has not ended. So every schedule is a point, whatever W and the end of the grid. With W = 1
    it is the textbook relaxation (Sousa and Wolsey 1992); buckets and late columns as in the bound for DAGs: ours.

    Patterns are those of `pattern_table`: on servers with exact durations if they are few; else by kind, or of one pool
    of all GPUs with d^lb. The last is right when kinds differ, too: the proof uses only that job i holds g[i] GPUs for
    at least d^lb[i] ticks and that at most G are held; kinds enter through d^lb. Where more detail makes W
    larger than 1, the pool is tried as well, and the larger bound is returned.

    Interference. A job in pattern p runs for at least d[i,p] ticks, whatever runs beside it, so that every schedule is
    a point of the program as it stands; where two jobs may share a GPU, with twice the capacity: at a tick two jobs may
    hold each GPU, however slow. (That the two do less than twice the work of one is no matter of single ticks.)

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    max_columns
        Limits how fine the buckets are.
    """
    if not instance.num_jobs:
        return 0
    pool = all_gpus(instance)
    if instance.num_jobs > MAX_PATTERNS:
        return _on_grid(instance, objective, pool, max_columns)[0]
    table = pattern_table(instance, max_listed=MAX_PATTERNS)
    value, width = _on_grid(instance, objective, table, max_columns)
    if width > 1 and table.num_patterns > pool.num_patterns:  # one pool has finer buckets
        value = max(value, _on_grid(instance, objective, pool, max_columns)[0])
    return value


def _on_grid(
    instance: JobsInstance, objective: JobsObjective, table: PatternTable, max_columns: int
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
    return lp.proven_bound(), width


def _longest(patterns: tuple[JobPattern, ...]) -> int:
    """Return the longest duration of a job in ticks."""
    return max(pattern.duration for pattern in patterns)
