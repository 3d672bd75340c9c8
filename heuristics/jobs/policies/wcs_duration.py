"""WCS-Duration: work-conserving, by predicted duration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.job_shapes import JobShapes
from heuristics.jobs.policies.key_policy import SkippingPolicy
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


def wcs_duration(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    predictor: str | Predictor = "oracle",
    predictor_parameters: Mapping[str, Any] | None = None,
    placement: str = "heavy-edge",
) -> JobsSchedule | None:
    """Start whoever fits, in order of predicted duration.

    Every waiting job is tried; those without a placement are skipped.
    A reconstruction of ours: the published abstract of A-SRPT names no baselines.

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
        wcs_duration_policy(instance),
        rng,
        callback,
        predictor=predictor,
        predictor_parameters=predictor_parameters,
        placement=placement,
    )
    return schedule_of(simulation)


def wcs_duration_policy(instance: JobsInstance) -> Policy:
    """Return the policy, for one simulation."""
    return SkippingPolicy(JobShapes(instance), by_duration)
