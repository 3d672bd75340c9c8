"""Bin packing: jobs in order of arrival, on the fullest server that holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.policies.run_policy import run_policy, schedule_of
from heuristics.jobs.policies.wcs_subtime import wcs_subtime_policy

if TYPE_CHECKING:
    import numpy as np

    from heuristics.callback import Callback
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective
    from instances.jobs.jobs_schedule import JobsSchedule


def bin_packing(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
) -> JobsSchedule | None:
    """Start whoever fits, in order of arrival, on the server with the fewest free GPUs that hosts the job.

    A job that no single server hosts goes to those with the most free GPUs. Every waiting job is tried; those without a
    placement are skipped. It is `wcs_subtime` with the placement `BestFit`, and costs the same and a look at all
    servers per placement.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        Not looked at: weights move nothing here.
    rng
        Not looked at: nothing is drawn.
    callback
        See `simulate`.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    References
    ----------
    Best fit is textbook; the rule for gangs is a reconstruction of ours.
    """
    return schedule_of(run_policy(wcs_subtime_policy(instance), rng, callback, placement="best-fit"))
