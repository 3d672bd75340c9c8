"""Eastman-Even-Isaacs: jobs of one task on GPUs that are all as fast as each task's fastest."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.job_work import job_work
from instances.objective import Objective

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance


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
