"""FIFO: first come, first served."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.job_shapes import JobShapes
from heuristics.jobs.policies.key_policy import BlockingPolicy
from heuristics.jobs.policies.keys import by_arrival
from heuristics.jobs.policies.run_policy import run_policy, schedule_of

if TYPE_CHECKING:
    import numpy as np

    from heuristics.callback import Callback
    from heuristics.jobs.policies.policy import Policy
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective
    from instances.jobs.jobs_schedule import JobsSchedule


def fifo(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    placement: str = "heavy-edge",
) -> JobsSchedule | None:
    """Start waiting jobs in order of arrival.

    Waiting jobs start in order of arrival; the first one without a placement blocks all others. A reconstruction of
    ours. With the placement ``load-balance`` it is the gang form of the FIFO among the baselines of DL2 (github
    pengyanghua/DL2), which gives each job up to 16 workers on the least-loaded servers.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        Not looked at: weights move nothing here.
    rng
        Source of the random numbers of the placement.
    callback
        See `simulate`.
    placement
        See `run_policy`.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    Raises
    ------
    ValueError
        If the placement is unknown.
    """
    return schedule_of(run_policy(fifo_policy(instance), rng, callback, placement=placement))


def fifo_policy(instance: JobsInstance) -> Policy:
    """Return the policy, for one simulation."""
    return BlockingPolicy(JobShapes(instance), by_arrival, uses_predictions=False)
