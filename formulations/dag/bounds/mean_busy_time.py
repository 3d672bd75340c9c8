"""Mean busy time: all jobs on one GPU as fast as all GPUs together, interrupted at will."""

from __future__ import annotations

import heapq
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from instances.objective import Objective

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance


def mean_busy_time(instance: DagInstance, objective: Objective) -> int:
    """Return the mean-busy-time bound on the weighted completion; 0 for the makespan.

    Let P[j] be the sum of the smallest durations of job j. No schedule works on j faster than m ticks of P[j] per tick,
    so j is a job of P[j] / m ticks on one GPU. There, running the available job of largest w / P at any time minimises
    the sum of w times mean busy times M; a job ends at least P[j] / (2 m) after its mean busy time. Hence

        sum of w[j] C[j] >= sum of w[j] (M[j] + P[j] / (2 m)),

    in exact rational arithmetic, rounded up. Goemans (1997) for one machine; carried over to m unrelated GPUs by us.
    Always valid: edges, transfers and memory only remove schedules.
    """
    if objective is Objective.MAKESPAN:
        return 0
    longest = np.iinfo(np.int64).max
    shortest = np.where(instance.allowed, instance.durations, longest).min(axis=1, initial=longest)
    work = np.zeros(instance.num_jobs, dtype=np.int64)
    np.add.at(work, instance.job_of_task, shortest)
    m, weight = instance.num_gpus, instance.weight.tolist()
    busy = _mean_busy_times(work.tolist(), [release * m for release in instance.release.tolist()], weight)
    total = sum(w * (mean + Fraction(p, 2)) for w, mean, p in zip(weight, busy, work.tolist(), strict=True))
    return math.ceil(Fraction(total) / m)


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
