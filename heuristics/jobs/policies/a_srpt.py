"""A-SRPT (reconstruction): preemptive SRPT on a virtual machine, fed with predictions, decides who starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.job_shapes import JobShapes
from heuristics.jobs.policies.a_srpt_parameters import ASrptParameters
from heuristics.jobs.policies.provable_policy import ProvablePolicy
from heuristics.jobs.policies.run_policy import run_policy, schedule_of
from heuristics.jobs.policies.work_conserving_policy import WorkConservingPolicy
from instances.jobs.jobs_objective import JobsObjective

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy as np

    from heuristics.callback import Callback
    from heuristics.jobs.policies.a_srpt_parameters import Rational
    from heuristics.jobs.policies.guided_policy import GuidedPolicy
    from heuristics.jobs.predictors.predictor import Predictor
    from heuristics.jobs.simulation import Simulation
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_schedule import JobsSchedule

MODES = {"provable": ProvablePolicy, "work_conserving": WorkConservingPolicy}


def a_srpt(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    predictor: str | Predictor = "oracle",
    predictor_parameters: Mapping[str, Any] | None = None,
    placement: str = "heavy-edge",
    mode: str = "provable",
    theta: Rational = "3/2",
    tau: Rational = "1/4",
    eps: Rational = "1/50",
    phi: Rational | None = None,
) -> JobsSchedule | None:
    """Start jobs in the order in which a virtual machine as fast as all GPUs completes their predicted work.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        Total completion: the virtual machine serves the least remaining work. Weighted completion, where weights
        differ: the largest weight per work.
    rng
        Source of the random numbers of predictor and placement.
    callback
        See `simulate`.
    predictor, predictor_parameters, placement
        See `run_policy`.
    mode
        ``provable``: nobody overtakes the head of the queue, which has a bound and idles on purpose;
        ``work_conserving``: whoever fits starts, without a bound.
    theta, tau, eps, phi
        See `ASrptParameters`; exact rationals, a text such as "1/50" or a decimal number.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    Raises
    ------
    ValueError
        If a name or parameter is unknown or out of range.

    Notes
    -----
    With weights 1, in the provable mode with Heavy-Edge, and mu1, mu2, rho, b as measured afterwards: sum C is at most
    (mu2 (1 + tau + mu1 rho G / b) + rho) OPT + N. The theorem is ours, not that of the paper.

    References
    ----------
    Luo, Liu, Lee and Shroff (2025), Prediction-assisted online distributed deep learning workload scheduling in GPU
    clusters, INFOCOM, arXiv 2501.05563, abstract: predictions, virtual single machine with preemptive SRPT. Iteration
    times, placement, the test for heavy jobs, holds, modes and parameters are a reconstruction of ours.
    """
    simulation = a_srpt_simulation(
        instance,
        objective,
        rng,
        callback,
        predictor=predictor,
        predictor_parameters=predictor_parameters,
        placement=placement,
        mode=mode,
        theta=theta,
        tau=tau,
        eps=eps,
        phi=phi,
    )
    return schedule_of(simulation)


def a_srpt_simulation(
    instance: JobsInstance,
    objective: JobsObjective,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    predictor: str | Predictor = "oracle",
    predictor_parameters: Mapping[str, Any] | None = None,
    placement: str = "heavy-edge",
    mode: str = "provable",
    theta: Rational = "3/2",
    tau: Rational = "1/4",
    eps: Rational = "1/50",
    phi: Rational | None = None,
) -> Simulation | None:
    """Return the whole run of `a_srpt` with its log; parameters and errors are the same."""
    parameters = ASrptParameters.of(theta=theta, tau=tau, eps=eps, phi=phi)
    return run_policy(
        a_srpt_policy(instance, objective, parameters, mode),
        rng,
        callback,
        predictor=predictor,
        predictor_parameters=predictor_parameters,
        placement=placement,
    )


def a_srpt_policy(
    instance: JobsInstance,
    objective: JobsObjective,
    parameters: ASrptParameters | None = None,
    mode: str = "provable",
) -> GuidedPolicy:
    """Return the policy, for one simulation; parameters as in `a_srpt`, the defaults if None.

    Raises
    ------
    ValueError
        If the mode is unknown.
    """
    if mode not in MODES:
        raise ValueError(f"mode: expected one of {', '.join(MODES)}, got {mode!r}.")
    chosen = ASrptParameters() if parameters is None else parameters
    is_weighted = (
        JobsObjective(objective) is JobsObjective.WEIGHTED_COMPLETION and len(set(instance.weight.tolist())) > 1
    )
    return MODES[mode](JobShapes(instance, chosen.phi), chosen, is_weighted=is_weighted)
