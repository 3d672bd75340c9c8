"""Rank by rank the later one of virtual SRPT and of the shortest durations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.jobs.bounds.virtual_machine_jobs import VirtualMachineJobs
from formulations.jobs.bounds.virtual_srpt import srpt_times

if TYPE_CHECKING:
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective


def rank_wise(instance: JobsInstance, objective: JobsObjective) -> int:
    """Return a lower bound on sum w C in ticks that is never below `virtual_srpt` and `release_plus_duration`.

    Proof. By any time shortest remaining processing time first has the most jobs of the virtual machine done (Schrage
    1968), so the q-th smallest completion time of any schedule is at least the q-th smallest of SRPT, rounded up to a
    tick; it is also at least the q-th smallest r + d^lb. The larger one is summed over the ranks, in layers of weight
    as in `virtual_srpt`. By rank, never by job: a job may well end before its own SRPT time. (Ours.)

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    """
    return rank_wise_value(VirtualMachineJobs.of(instance, objective))


def rank_wise_value(jobs: VirtualMachineJobs) -> int:
    """Return the bound of some jobs in ticks."""
    total, below = 0, 0
    for level in sorted(set(jobs.weight)):
        layer = jobs.part([job for job, weight in enumerate(jobs.weight) if weight >= level])
        by_srpt = (-(-time // jobs.num_gpus) for time in sorted(srpt_times(layer)))
        total += (level - below) * sum(max(pair) for pair in zip(by_srpt, sorted(layer.head), strict=True))
        below = level
    return total
