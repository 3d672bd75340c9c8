"""Weighted completion by one GPU as fast as all together: SRPT, mean busy time, Eastman-Even-Isaacs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.heads_and_tails import heads_and_tails, job_path_bounds
from formulations.dag.incomparable_pairs import reachable
from formulations.dag.join import INFINITE
from formulations.preemptive_machine import busy_areas, srpt_times
from formulations.time_left import without_limit
from instances.dag.contention import Contention
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


def shortest_durations(instance: DagInstance) -> NDArray[np.int64]:
    """Return the shortest duration of every task over its allowed GPUs in ticks, shape (n,)."""
    longest = np.iinfo(np.int64).max
    shortest: NDArray[np.int64] = np.where(instance.allowed, instance.durations, longest).min(axis=1, initial=longest)
    return shortest


def job_work(instance: DagInstance) -> NDArray[np.int64]:
    """Return P: the sum of the shortest durations of every job's tasks in ticks, shape (jobs,)."""
    work = np.zeros(instance.num_jobs, dtype=np.int64)
    np.add.at(work, instance.job_of_task, shortest_durations(instance))
    return work


def srpt(
    instance: DagInstance,
    objective: Objective,
    contention: Contention = Contention.NONE,
    *,
    seconds_left: Callable[[], float] = without_limit,
) -> int:
    """Return the rank-wise bound by shortest remaining processing time (SRPT), in layers of weight; 0 for the makespan.

    Let P[j] be the sum of the shortest durations of job j. No schedule works on all jobs together faster than m ticks
    of P per tick, so the jobs become pieces of P[j] ticks on one GPU of m-fold speed, where SRPT has the most jobs done
    by any time (Schrage 1968). Hence the q-th smallest completion time is at least the q-th smallest of SRPT, rounded
    up; it is also at least the q-th smallest path bound of the jobs. The larger one is summed over the ranks. By rank,
    never by job: a job may end before its own SRPT time.

    Weights: with 0 = v_0 < v_1 < ... the different weights, sum_j w[j] C[j] = sum_l (v_l - v_(l-1)) (sum of C[j] over
    the jobs of weight at least v_l), and removing the other jobs only removes work, so every layer has its bound of
    equal weights. Cost: O(N log N) per layer (docs/bounds.md, section 4.1; ranks and layers are ours).
    """
    if Objective(objective) is Objective.MAKESPAN:
        return 0
    completion = job_path_bounds(instance, heads_and_tails(instance, contention=contention))
    return rank_wise_bound(instance, completion, seconds_left=seconds_left)


def rank_wise_bound(
    instance: DagInstance,
    completion: NDArray[np.int64],
    last_of: Callable[[tuple[int, ...]], int] = lambda jobs: 0,
    *,
    seconds_left: Callable[[], float] = without_limit,
) -> int:
    """Return the bound on the weighted completion from SRPT and a lower bound per job, rank by rank and layer by layer.

    It is never below the weighted sum of the lower bounds of the jobs.

    Parameters
    ----------
    completion
        Lower bounds on the completion times of the jobs, shape (jobs,).
    last_of
        Lower bound on the makespan of some jobs, which the last rank of a layer of them reaches at least.
    seconds_left
        Seconds that are left; when there are none, `completion` alone counts for the remaining layers.
    """
    m, work, weight = instance.num_gpus, job_work(instance), instance.weight
    total, below = 0, 0
    for layer in np.unique(weight[weight > 0]).tolist():
        jobs = np.flatnonzero(weight >= layer)
        if seconds_left() <= 0:
            return total + int((weight[jobs] - below) @ completion[jobs])
        times = srpt_times([release * m for release in instance.release[jobs].tolist()], work[jobs].tolist())
        by_rank = np.maximum(np.array([-(-time // m) for time in sorted(times)]), np.sort(completion[jobs]))
        if len(jobs) > 1:
            by_rank[-1] = max(int(by_rank[-1]), last_of(tuple(jobs.tolist())))
        total += (layer - below) * int(by_rank.sum())
        below = layer
    return total


def eastman_even_isaacs(instance: DagInstance, objective: Objective) -> int:
    """Return r sum(w) + M1 / m + (m - 1) / (2 m) sum(w P), rounded up, for jobs of one task, else 0.

    P[j] is the shortest duration of the task of job j, r the earliest release, and M1 the least sum of weighted
    completion times of tasks of P[j] ticks on one GPU, by decreasing w / P without pause (Smith's rule). Later
    releases, edges, transfers and memory only remove schedules. A job without tasks completes at its release. 0 for the
    makespan. `mean_busy_time` is never below it; papers cite this one. Cost: O(N log N) (docs/bounds.md, section 4.3).

    References
    ----------
    Eastman, Even and Isaacs (1964), for identical GPUs without releases.
    """
    sizes = np.bincount(instance.job_of_task, minlength=instance.num_jobs)
    if Objective(objective) is Objective.MAKESPAN or sizes.max(initial=0) > 1:
        return 0
    release, weight, m = instance.release.tolist(), instance.weight.tolist(), instance.num_gpus
    work = job_work(instance).tolist()
    busy = np.flatnonzero(sizes).tolist()
    earliest = min((release[job] for job in busy), default=0)
    time, on_one_gpu = 0, 0
    for job in sorted(busy, key=lambda job: (-Fraction(weight[job], work[job]) if work[job] else -np.inf, job)):
        time += work[job]
        on_one_gpu += weight[job] * time
    weighted_work = sum(weight[job] * work[job] for job in busy)
    by_work = Fraction(2 * on_one_gpu + (m - 1) * weighted_work, 2 * m)
    idle = sum(weight[job] * release[job] for job in np.flatnonzero(sizes == 0).tolist())
    total: int = idle + sum(weight[job] for job in busy) * earliest + ceil(by_work)
    return total


MAX_TASKS = 3_000
"""Above this many tasks only GPUs and tasks are counted, because all pairs would take too long."""


def job_widths(instance: DagInstance) -> NDArray[np.int64]:
    """Return the largest number of tasks of every job that can run at the same time, at least 1, shape (jobs,).

    It is at most the number of GPUs that may run one of them, and at most the size of the largest set of them that no
    path orders, which by Dilworth's theorem is the number of tasks minus a largest matching of tasks to later ones.
    Only tasks that take time on every GPU count.
    """
    takes_time = shortest_durations(instance) > 0
    width = np.ones(instance.num_jobs, dtype=np.int64)
    reaches = reachable(instance) if instance.num_tasks <= MAX_TASKS else None
    for job in range(instance.num_jobs):
        tasks = np.flatnonzero((instance.job_of_task == job) & takes_time)
        if len(tasks) < 2:
            continue
        gpus = int(instance.allowed[tasks].any(axis=0).sum())
        together = len(tasks) if reaches is None or gpus == 1 else _antichain(reaches[np.ix_(tasks, tasks)])
        width[job] = min(gpus, together)
    return width


def _antichain(reaches: NDArray[np.bool_]) -> int:
    """Return the size of the largest set of tasks that no path orders."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    later = maximum_bipartite_matching(csr_array(reaches), perm_type="column")
    return len(reaches) - int((later >= 0).sum())


def mean_busy_time(
    instance: DagInstance,
    objective: Objective,
    contention: Contention = Contention.NONE,
    *,
    seconds_left: Callable[[], float] = without_limit,
) -> int:
    """Return the mean-busy-time bound on the weighted completion; 0 for the makespan.

    Let p[i] be the shortest duration of task i and P[j] their sum over job j. No schedule works on j faster than m
    ticks of P[j] per tick, so j becomes a job of P[j] / m ticks on one GPU. There, running the available job of largest
    w / P at any time minimises the weighted sum of the mean busy times M. A job ends some time after its mean busy
    time: of its work at most

        W[j](t) = min(P[j], omega[j] t, sum over i in j of min(p[i], max(0, t - T[i])))

    falls into the last t ticks, where omega[j] is how many tasks of j can run at once (`job_widths`) and T[i] is the
    tail of i within its job. Hence C[j] - M[j] >= integral of (P - W) / P, and

        sum of w[j] C[j] >= sum of w[j] (M[j] + integral over t >= 0 of (P[j] - W[j](t)) dt / P[j]),

    in exact rational arithmetic, rounded up. When no seconds are left, the integrals of the remaining jobs count as 0.
    Cost: O(N log N) and the widths (docs/bounds.md, section 4.2).

    References
    ----------
    Goemans (1997), for one machine; omega, tails and unrelated GPUs are ours.
    """
    if Objective(objective) is Objective.MAKESPAN:
        return 0
    m, weight = instance.num_gpus, instance.weight.tolist()
    work = job_work(instance).tolist()
    release = [time * m for time in instance.release.tolist()]
    total = Fraction(0)
    for w, p, time, area in zip(weight, work, release, busy_areas(release, work, weight), strict=True):
        busy = w * (Fraction(area, 2 * p) if p else Fraction(time)) / m  # a job without work is busy at its release
        total += busy if seconds_left() > 0 else math.floor(busy)
    if seconds_left() <= 0:
        return math.ceil(total)
    duration = shortest_durations(instance)
    around = heads_and_tails(instance, contention=contention)
    tail = np.where(around.allowed, around.job_tails, INFINITE).min(axis=1, initial=INFINITE)
    tail[tail == INFINITE] = 0  # it fits nowhere: there is no schedule
    width = job_widths(instance)
    for job in range(instance.num_jobs):
        if weight[job] and work[job] and seconds_left() > 0:
            own = np.flatnonzero((instance.job_of_task == job) & (duration > 0))
            lag = _unfinished_work(duration[own].tolist(), tail[own].tolist(), int(width[job]))
            total += weight[job] * lag / work[job]
    return math.ceil(total)


def _unfinished_work(durations: list[int], tails: list[int], width: int) -> Fraction:
    """Return the integral over t >= 0 of P - min(width t, sum of min(p, max(0, t - T))), P the sum of the durations."""
    change: dict[int, int] = {}
    for duration, tail in zip(durations, tails, strict=True):
        change[tail] = change.get(tail, 0) + 1
        change[tail + duration] = change.get(tail + duration, 0) - 1
    total, integral = sum(durations), Fraction(0)
    time, done, running = 0, 0, 0
    for until in sorted(change):
        # On [time, until] the tails allow done + running (t - time), the width allows width t.
        cuts = [Fraction(time), Fraction(until)]
        if running != width:
            crossing = Fraction(done - running * time, width - running)
            if time < crossing < until:
                cuts.insert(1, crossing)
        for begin, end in pairwise(cuts):
            middle = (begin + end) / 2
            integral += (end - begin) * (total - min(done + running * (middle - time), width * middle))
        done += running * (until - time)
        time, running = until, running + change[until]
    if width * time < total:
        integral += Fraction((total - width * time) ** 2, 2 * width)
    return integral
