"""Rank-wise SRPT: all jobs on one fast GPU, interrupted at will, the shortest remaining one first."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.job_work import job_work
from formulations.dag.bounds.path_bound import job_path_bounds
from formulations.dag.heads_and_tails import heads_and_tails
from instances.contention import Contention
from instances.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance


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
    return rank_wise(instance, job_path_bounds(instance, heads_and_tails(instance, contention=contention)))


def rank_wise(
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
