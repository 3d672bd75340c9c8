"""Weighted completion by one GPU as fast as all together: SRPT, mean busy time, Eastman-Even-Isaacs."""

from __future__ import annotations

import heapq
import math
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.heads_and_tails import heads_and_tails, job_path_bounds
from formulations.dag.incomparable_pairs import reachable
from formulations.dag.join import INFINITE
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


def srpt(instance: DagInstance, objective: Objective, contention: Contention = Contention.NONE) -> int:
    """Return the rank-wise SRPT bound, in layers of weight; 0 for the makespan.

    Let P[j] be the sum of the shortest durations of job j. No schedule works on all jobs together faster than m ticks
    of P per tick, so the jobs are pieces of P[j] ticks on one GPU of m-fold speed, where by any time the shortest
    remaining processing time rule has the most jobs done (Schrage 1968). So the q-th smallest completion time is at
    least the q-th smallest of SRPT, rounded up; it is also at least the q-th smallest of the path bounds of the jobs.
    The sum over ranks of the larger one is a bound on the sum of completion times (rank-wise: our own). By rank, never
    by job: a job may well end before its own SRPT time.

    Weights: with 0 = v_0 < v_1 < ... the different weights, sum_j w[j] C[j] = sum_l (v_l - v_(l-1)) (sum of C[j] over
    the jobs of weight at least v_l), and taking the other jobs away only removes work. So every layer has its bound of
    equal weights (our own). With one weight that is the textbook bound. Edges, transfers and memory only remove
    schedules, so it is always valid.
    """
    if objective is Objective.MAKESPAN:
        return 0
    return rank_wise_bound(instance, job_path_bounds(instance, heads_and_tails(instance, contention=contention)))


def rank_wise_bound(
    instance: DagInstance,
    completion: NDArray[np.int64],
    last_of: Callable[[NDArray[np.int64]], int] = lambda jobs: 0,
) -> int:
    """Return the bound on the weighted completion from SRPT and a lower bound per job, rank by rank and layer by layer.

    It is never below the lower bounds of the jobs, weighted and summed. The last rank of a layer is also at least the
    makespan of its jobs.

    Parameters
    ----------
    instance
        What is scheduled.
    completion
        Lower bounds on the completion times of the jobs, shape (jobs,).
    last_of
        Lower bound on the makespan of some jobs.
    """
    m, work, weight = instance.num_gpus, job_work(instance), instance.weight
    total, below = 0, 0
    for layer in np.unique(weight[weight > 0]).tolist():
        jobs = np.flatnonzero(weight >= layer)
        times = _srpt_times(work[jobs].tolist(), [release * m for release in instance.release[jobs].tolist()])
        by_rank = np.maximum(np.array([-(-time // m) for time in sorted(times)]), np.sort(completion[jobs]))
        if len(jobs) > 1:
            by_rank[-1] = max(int(by_rank[-1]), last_of(jobs))
        total += (layer - below) * int(by_rank.sum())
        below = layer
    return total


def _srpt_times(work: list[int], release: list[int]) -> list[int]:
    """Return the completion times on one unit-speed GPU under shortest remaining processing time first."""
    arrivals = sorted(range(len(work)), key=lambda job: release[job])
    waiting: list[int] = []  # remaining work
    times, time, position = [], 0, 0
    while position < len(arrivals) or waiting:
        if not waiting:
            time = max(time, release[arrivals[position]])
        while position < len(arrivals) and release[arrivals[position]] <= time:
            heapq.heappush(waiting, work[arrivals[position]])
            position += 1
        remaining = heapq.heappop(waiting)
        if position < len(arrivals) and time + remaining > release[arrivals[position]]:
            heapq.heappush(waiting, remaining - (release[arrivals[position]] - time))
            time = release[arrivals[position]]
        else:
            time += remaining
            times.append(time)
    return times


def eastman_even_isaacs(instance: DagInstance, objective: Objective) -> int:
    """Return r sum(w) + M1 / m + (m - 1) / (2 m) sum(w P), rounded up; for jobs of one task, else 0.

    P[j] is the shortest duration of the task of job j, M1 the least sum of weighted completion times of tasks that take
    P[j] on one GPU, by decreasing w / P without pause (Smith's rule), r the earliest release.

    Eastman, Even and Isaacs (1964) for identical GPUs and no releases; on unrelated ones with later releases, edges,
    transfers and memory it still holds, for all of these only remove schedules (textbook). A job without tasks
    completes at its release. 0 where a job has two tasks, and for the makespan. `mean_busy_time` is never below it;
    this one is the name that papers cite.
    """
    sizes = np.bincount(instance.job_of_task, minlength=instance.num_jobs)
    if objective is Objective.MAKESPAN or sizes.max(initial=0) > 1:
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
"""Above this many tasks only GPUs and tasks are counted: all pairs take too long."""


def job_widths(instance: DagInstance) -> NDArray[np.int64]:
    """Return the most tasks of every job that can run at the same time, at least 1, shape (jobs,).

    At most as many as there are GPUs that may run one of them, and as the largest set of them that no path orders: by
    Dilworth's theorem the number of tasks minus a largest matching of tasks to later ones. Only tasks that take time on
    every GPU count.
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


def mean_busy_time(instance: DagInstance, objective: Objective, contention: Contention = Contention.NONE) -> int:
    """Return the mean-busy-time bound on the weighted completion; 0 for the makespan.

    Let p[i] be the shortest duration of task i, P[j] their sum over job j. A task works off its p[i] at most at one
    tick per tick, so no schedule works on j faster than m ticks of P[j] per tick, and j is a job of P[j] / m ticks on
    one GPU. There, running the available job of largest w / P at any time minimises the sum of w times mean busy times
    M. A job ends some time after its mean busy time: of its work at most

        W[j](t) = min(P[j], omega[j] t, sum over i in j of min(p[i], max(0, t - T[i])))

    falls into the last t ticks, where omega[j] is how many tasks of j can run at once (`job_widths`) and T[i] the tail
    of i within its job: the time between its end and the job's. Hence C[j] - M[j] >= integral of (P - W) / P, and

        sum of w[j] C[j] >= sum of w[j] (M[j] + integral over t >= 0 of (P[j] - W[j](t)) dt / P[j]),

    in exact rational arithmetic, rounded up. With omega alone the integral is P / (2 omega).

    Goemans (1997) for one machine; omega and the tails, and carrying it over to m unrelated GPUs, are our own. Without
    releases and with one task per job it is `eastman_even_isaacs`. Always valid: edges, transfers and memory only
    remove schedules.
    """
    if objective is Objective.MAKESPAN:
        return 0
    m, weight = instance.num_gpus, instance.weight.tolist()
    work = job_work(instance).tolist()
    busy = _mean_busy_times(work, [release * m for release in instance.release.tolist()], weight)
    total: Fraction = sum((w * mean for w, mean in zip(weight, busy, strict=True)), Fraction(0)) / m
    duration = shortest_durations(instance)
    around = heads_and_tails(instance, contention=contention)
    tail = np.where(around.allowed, around.job_tails, INFINITE).min(axis=1, initial=INFINITE)
    tail[tail == INFINITE] = 0  # it fits nowhere: there is no schedule
    width = job_widths(instance)
    for job in range(instance.num_jobs):
        if weight[job] and work[job]:
            own = np.flatnonzero((instance.job_of_task == job) & (duration > 0))
            lag = _unfinished_work(duration[own].tolist(), tail[own].tolist(), int(width[job]))
            total += weight[job] * lag / work[job]
    return math.ceil(total)


def _mean_busy_times(work: list[int], release: list[int], weight: list[int]) -> list[Fraction]:
    """Return the mean busy time of every job on one unit-speed GPU; a job without work is busy at its release."""
    busy = [Fraction(time) if not p else Fraction(0) for p, time in zip(work, release, strict=True)]
    left = list(work)
    arrivals = sorted((job for job, p in enumerate(work) if p), key=lambda job: (release[job], job))
    waiting: list[tuple[Fraction, int]] = []
    time, position = 0, 0
    while position < len(arrivals) or waiting:
        if not waiting:
            time = max(time, release[arrivals[position]])
        while position < len(arrivals) and release[arrivals[position]] <= time:
            job = arrivals[position]
            heapq.heappush(waiting, (-Fraction(weight[job], work[job]), job))
            position += 1
        job = waiting[0][1]
        until = time + left[job]
        if position < len(arrivals):
            until = min(until, release[arrivals[position]])
        busy[job] += Fraction(until * until - time * time, 2 * work[job])
        left[job] -= until - time
        time = until
        if not left[job]:
            heapq.heappop(waiting)
    return busy


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
