"""From a policy and names of a predictor and a placement rule to a simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.heavy_edge_variants import (
    BestFit,
    Consolidated,
    FreeDescending,
    LeastLoad,
    LoadBalance,
    StageOrder,
)
from heuristics.jobs.placements.random_placement import RandomPlacement
from heuristics.jobs.predictors.predictor import predictor_named
from heuristics.jobs.simulator import simulate

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    import numpy as np

    from heuristics.jobs.placements.placement import Placer
    from heuristics.jobs.policy import Policy
    from heuristics.jobs.predictors.predictor import Predictor
    from heuristics.jobs.simulator import Simulation
    from heuristics.search.progress import Callback
    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule

PLACEMENTS = (
    "heavy-edge", "consolidated", "stage-order", "random", "load-balance", "free-descending", "best-fit", "least-load",
)  # fmt: skip
"""Placement rules by name."""


def run_policy(
    policy: Policy,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    predictor: str | Predictor = "oracle",
    predictor_parameters: Mapping[str, Any] | None = None,
    placement: str = "heavy-edge",
    phi: Fraction | int | None = None,
) -> Simulation | None:
    """Simulate a policy.

    Predictor and placement draw from streams of their own, so that one does not move the other's numbers.

    Parameters
    ----------
    policy
        A fresh one; it has the instance.
    rng
        Source of all random numbers.
    callback
        See `simulate`.
    predictor
        A name in `PREDICTORS`, or a fresh predictor; not looked at where the policy uses no predictions.
    predictor_parameters
        Parameters of the named predictor.
    placement
        A name in `PLACEMENTS`; the rule is under the same restriction of kinds as the policy.
    phi
        May repeat the policy's restriction of kinds, to be checked; None leaves it to the policy.

    Returns
    -------
    Simulation or None
        None if the callback asked to stop.

    Raises
    ------
    ValueError
        If a name or parameter is unknown, or `phi` is not that of the policy.
    """
    if phi is not None and phi != policy.shapes.phi:
        raise ValueError(f"phi: expected {policy.shapes.phi}, as the policy has it, got {phi}.")
    for_predictor, for_placement = rng.spawn(2)
    made: Predictor | None = None
    if policy.uses_predictions:
        made = made_predictor(predictor, predictor_parameters, policy.instance, for_predictor)
    return simulate(
        policy.instance,
        policy,
        made,
        placer_named(placement, policy.instance, for_placement, policy.shapes.phi),
        callback,
    )


def made_predictor(
    predictor: str | Predictor,
    parameters: Mapping[str, Any] | None,
    instance: JobsInstance,
    rng: np.random.Generator,
) -> Predictor:
    """Return a predictor for one run: that of a name with its parameters, or the one that was given.

    Raises
    ------
    ValueError
        If the name or a parameter is unknown.
    """
    if isinstance(predictor, str):
        return predictor_named(predictor, instance, rng, **(parameters or {}))
    return predictor


def placer_named(
    name: str, instance: JobsInstance, rng: np.random.Generator, phi: Fraction | int | None = None
) -> Placer:
    """Return a placement rule for one run.

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    if name == "random":
        return RandomPlacement(instance, rng, phi)
    rules: dict[str, type[HeavyEdge]] = {
        "heavy-edge": HeavyEdge,
        "consolidated": Consolidated,
        "stage-order": StageOrder,
        "load-balance": LoadBalance,
        "free-descending": FreeDescending,
        "best-fit": BestFit,
        "least-load": LeastLoad,
    }
    if name not in rules:
        raise ValueError(f"placement: expected one of {', '.join(PLACEMENTS)}, got {name!r}.")
    return rules[name](instance, phi)


def schedule_of_simulation(simulation: Simulation | None) -> JobsSchedule | None:
    """Return the schedule of a simulation, None if it was stopped."""
    return None if simulation is None else simulation.schedule
