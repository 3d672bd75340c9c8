"""The interval-indexed linear program over patterns: few intervals of growing length, for many jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.jobs.bounds.pattern_lp import PatternLp
from formulations.jobs.bounds.virtual_machine_jobs import work_per_gpu
from formulations.jobs.pattern_table import all_gpus, pattern_table
from instances.jobs.jobs_objective import objective_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective

MAX_COLUMNS = 10_000
"""Columns up to which the program takes seconds."""

MAX_INTERVALS = 150
"""Finer grids gain little."""

MAX_PATTERNS = 400
"""Patterns of all jobs up to which servers or kinds are told apart."""

MAX_WINDOWS = 12
"""Releases from which on the work is counted too."""

LARGEST = 2**62
"""Products of this size and more are not computed in 64 bits; where costs are among them, the bound is 0."""


def interval_indexed(instance: JobsInstance, objective: JobsObjective, *, max_columns: int = MAX_COLUMNS) -> int:
    """Return the bound of the interval-indexed linear program on sum w C in ticks, proved by multipliers in integers.

    With tau_0 < tau_1 < ... < tau_L, tau_0 before every completion, X[i,p,l] = 1 if job i completes in pattern p in
    (tau_l, tau_(l+1)], late[i] = 1 if it completes after tau_L:

        sum over p, l of X[i,p,l] + late[i] = 1
        sum over i with r[i] >= rho, p and l' <= l of usage[p,v] d[i,p] X[i,p,l'] <= capacity[v] (tau_(l+1) - rho)
                                                                         for every v, l and some releases rho
        minimise sum of w[i] max(tau_l + 1, r[i] + d[i,p]) X[i,p,l] + w[i] max(tau_L + 1, r[i] + least d[i]) late[i]

    A job that is released at rho or later and has completed by tau_(l+1) held its GPUs for its whole duration within
    these two times, and no more than the capacity is held at any time. So every schedule is a point, whatever the tau.
    (Hall, Schulz, Shmoys and Wein 1997 for machines; patterns, windows from releases on, lower ends in ticks: ours.)
    Patterns as in `time_indexed`, and right for kinds that differ for the same reason.

    Interference. A job in pattern p runs for at least d[i,p] ticks, as no placement with that usage is faster and no
    job beside it makes it faster; with one job per GPU the rows hold as they stand. Two jobs on a GPU do at most Phi
    times the work of one, see `VirtualMachineJobs`: the job does usage[p,v] d[i,p] of work on group v in GPU-ticks of a
    job alone, so that the rows hold with Phi capacity[v].

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    max_columns
        Limits how fine the intervals are.
    """
    if not instance.num_jobs:
        return 0
    weights, release = objective_weights(instance, objective).tolist(), instance.release.tolist()
    table = all_gpus(instance)
    if instance.num_jobs <= MAX_PATTERNS:
        table = pattern_table(instance, max_listed=MAX_PATTERNS)
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
    return lp.proven_bound()


def _cuts(low: int, high: int, num_intervals: int) -> NDArray[np.int64]:
    """Return increasing integers from `low` to `high`: all of them, else half evenly spaced and half growing."""
    if high - low <= num_intervals:
        return np.arange(low, high + 1, dtype=np.int64)
    even = np.linspace(low, high, num_intervals // 2 + 1)
    growing = low + np.geomspace(1.0, high - low, num_intervals - num_intervals // 2)
    return np.unique(np.rint(np.concatenate([even, growing])).astype(np.int64))
