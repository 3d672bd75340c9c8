"""SRTF with an oracle: shortest job first by the true iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.job_shapes import JobShapes
from heuristics.jobs.policies.key_policy import BlockingPolicy, SkippingPolicy
from heuristics.jobs.policies.keys import by_duration
from heuristics.jobs.policies.run_policy import run_policy, schedule_of

if TYPE_CHECKING:
    import numpy as np

    from heuristics.callback import Callback
    from heuristics.jobs.policies.policy import Policy
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective
    from instances.jobs.jobs_schedule import JobsSchedule

_POLICIES = {"blocks": BlockingPolicy, "skips": SkippingPolicy}


def srtf(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    head: str = "skips",
    placement: str = "heavy-edge",
) -> JobsSchedule | None:
    """Start waiting jobs in order of ceil(n * alpha_min) with their true iterations n: no online policy, a yardstick.

    Without preemption the remaining time of a waiting job is its whole duration, so that shortest remaining time first
    is shortest job first. With a head that blocks and the placement ``load-balance`` it is the gang form of the SRTF
    among the baselines of DL2 (github pengyanghua/DL2), a reconstruction of ours: there the key is the fraction of a
    job that is left, which is 1 for all gangs that wait. `spjf` with that placement is the same with predictions.

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
    head
        ``skips``: jobs without a placement are skipped; ``blocks``: the first one blocks all others.
    placement
        See `run_policy`.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    Raises
    ------
    ValueError
        If `head` is something else, or the placement is unknown.

    References
    ----------
    The rule that skips is the shortest job first of the simulator of github alibaba/clusterdata,
    cluster-trace-gpu-v2020; the one that blocks is a reconstruction of ours.
    """
    return schedule_of(run_policy(srtf_policy(instance, head), rng, callback, predictor="oracle", placement=placement))


def srtf_policy(instance: JobsInstance, head: str = "skips") -> Policy:
    """Return the policy, for one simulation with the oracle."""
    if head not in _POLICIES:
        raise ValueError(f"head: expected one of {', '.join(_POLICIES)}, got {head!r}.")
    return _POLICIES[head](JobShapes(instance), by_duration)
