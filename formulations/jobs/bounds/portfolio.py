"""The best of the bounds that need no search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formulations.jobs.bounds.interval_indexed import interval_indexed
from formulations.jobs.bounds.sets_of_kinds import sets_of_kinds
from formulations.jobs.bounds.time_indexed import time_indexed

if TYPE_CHECKING:
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective

MAX_JOBS_FOR_LPS = 2_000
"""Jobs up to which the linear programs take seconds."""


def portfolio(instance: JobsInstance, objective: JobsObjective) -> int:
    """Return the largest of all bounds on sum w C in ticks; above `MAX_JOBS_FOR_LPS` jobs without linear programs.

    `sets_of_kinds` is never below virtual SRPT, release plus duration, mean busy time and the rank-wise bound.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    """
    best = sets_of_kinds(instance, objective)
    if instance.num_jobs <= MAX_JOBS_FOR_LPS:
        best = max(best, time_indexed(instance, objective), interval_indexed(instance, objective))
    return best
