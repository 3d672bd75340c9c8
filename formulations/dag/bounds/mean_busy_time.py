"""Mean busy time: all jobs on one GPU as fast as all GPUs together, interrupted at will."""

from __future__ import annotations

import heapq
import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.job_width import job_widths
from formulations.dag.bounds.job_work import job_work, shortest_durations
from formulations.dag.heads_and_tails import INFINITE, heads_and_tails
from instances.contention import Contention
from instances.objective import Objective

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance


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
