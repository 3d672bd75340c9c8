"""Release plus the shortest duration that any placement allows, job by job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.jobs.bounds.virtual_machine_jobs import VirtualMachineJobs

if TYPE_CHECKING:
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective


def release_plus_duration(instance: JobsInstance, objective: JobsObjective) -> int:
    """Return L2 = sum w[i] (r[i] + d^lb[i]): a lower bound on sum w C in ticks.

    Proof. A job starts at its release or later and takes at least d^lb under every placement. Any weights.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    """
    return head_value(VirtualMachineJobs.of(instance, objective))


def head_value(jobs: VirtualMachineJobs) -> int:
    """Return L2 in ticks."""
    return sum(weight * head for weight, head in zip(jobs.weight, jobs.head, strict=True))
