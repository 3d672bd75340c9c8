"""Load balancing: jobs in order of arrival, on the servers with the smallest share of busy GPUs."""

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


def load_balancing(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
) -> JobsSchedule | None:
    """Start whoever fits, in order of arrival, on the least-loaded servers.

    Every waiting job is tried; those without a placement are skipped. It is `wcs_subtime` with the placement
    `LoadBalance`, and costs the same and a sort of the servers per placement.

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
    A baseline that Zhao and Wu (2022), arXiv 2112.13354, may have had: their abstract states none. The rule is a
    reconstruction of ours.
    """
    return schedule_of(run_policy(wcs_subtime_policy(instance), rng, callback, placement="load-balance"))
