"""SPJF: shortest predicted job first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.job_shapes import JobShapes
from heuristics.jobs.policies.key_policy import BlockingPolicy
from heuristics.jobs.policies.keys import by_duration
from heuristics.jobs.policies.run_policy import run_policy, schedule_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy as np

    from heuristics.callback import Callback
    from heuristics.jobs.policies.policy import Policy
    from heuristics.jobs.predictors.predictor import Predictor
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective
    from instances.jobs.jobs_schedule import JobsSchedule


def spjf(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    predictor: str | Predictor = "oracle",
    predictor_parameters: Mapping[str, Any] | None = None,
    placement: str = "heavy-edge",
) -> JobsSchedule | None:
    """Start waiting jobs in order of predicted duration.

    The first one without a placement blocks all others. A reconstruction
    of ours: the published abstract of A-SRPT names no baselines.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        Not looked at: weights move nothing here.
    rng
        Source of the random numbers of predictor and placement.
    callback
        See `simulate`.
    predictor, predictor_parameters, placement
        See `run_policy`.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    Raises
    ------
    ValueError
        If a name or parameter is unknown.
    """
    simulation = run_policy(
        spjf_policy(instance),
        rng,
        callback,
        predictor=predictor,
        predictor_parameters=predictor_parameters,
        placement=placement,
    )
    return schedule_of(simulation)


def spjf_policy(instance: JobsInstance) -> Policy:
    """Return the policy, for one simulation."""
    return BlockingPolicy(JobShapes(instance), by_duration)
