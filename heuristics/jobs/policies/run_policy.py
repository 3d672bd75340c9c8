"""From a policy and the names of a predictor and a placement rule to a simulation, and policies as methods."""

from __future__ import annotations

import inspect
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from heuristics.jobs.placements.registry import placement_draws, placer_named
from heuristics.jobs.predictors.predictor import predictor_named
from heuristics.jobs.simulator import simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from fractions import Fraction

    import numpy as np

    from heuristics.jobs.policy import Policy
    from heuristics.jobs.predictors.predictor import Predictor
    from heuristics.jobs.simulator import Simulation
    from heuristics.search.progress import Callback
    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule


def run_policy(
    policy: Policy,
    rng: np.random.Generator | None = None,
    callback: Callback | None = None,
    *,
    predictor: str | Predictor = "oracle",
    predictor_parameters: Mapping[str, Any] | None = None,
    placement: str = "heavy-edge",
    phi: Fraction | int | None = None,
) -> Simulation | None:
    """Simulate a policy.

    Predictor and placement rule draw from streams of their own, so that neither moves the other's numbers.

    Parameters
    ----------
    policy
        A fresh policy, made for the instance to be simulated.
    rng
        Source of all random numbers; None where neither predictor nor placement rule draws any.
    callback
        See `simulate`.
    predictor
        A name in `PREDICTORS`, or a fresh predictor; ignored if the policy uses no predictions.
    predictor_parameters
        Parameters of a predictor that is given by name.
    placement
        A name in `PLACEMENTS`; the rule has the same restriction of kinds as the policy.
    phi
        Repeats the policy's restriction of kinds so that it is checked; None leaves it to the policy.

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
    instance = policy.instance
    for_predictor, for_placement = (None, None) if rng is None else rng.spawn(2)
    made = made_predictor(predictor, predictor_parameters, instance, for_predictor) if policy.uses_predictions else None
    return simulate(
        instance, policy, made, placer_named(placement, instance, for_placement, policy.shapes.phi), callback
    )


def made_predictor(
    predictor: str | Predictor,
    parameters: Mapping[str, Any] | None,
    instance: JobsInstance,
    rng: np.random.Generator | None,
) -> Predictor:
    """Return a predictor for one run: the named one with its parameters, or the one that was given.

    Raises a `ValueError` if the name or a parameter is unknown.
    """
    if isinstance(predictor, str):
        return predictor_named(predictor, instance, rng, **(parameters or {}))
    return predictor


class OnlineMethod:
    """A policy as a method: a call simulates the policy and returns the schedule, not yet verified.

    Its signature is what `solve`, ``--set`` and studies read to learn its parameters. It consists of `instance`,
    `objective` if `make` takes it, `rng` and `callback`, the keywords `predictor` with `predictor_parameters` and
    `placement` unless they are fixed, and the keyword-only parameters of `make`. The call returns None if the callback
    asked to stop, and raises `ValueError` if a name or parameter is unknown or out of range.

    Parameters
    ----------
    make
        Returns a fresh policy for one simulation from the instance, from `objective` and `predictor` if it names them,
        and from keyword-only parameters of its own. Its name and docstring become those of the method.
    predictor
        Default predictor; None if the policy uses no predictions.
    placement
        Default placement rule.
    fixed
        Which of ``predictor`` and ``placement`` cannot be chosen. There is no `rng` if nothing is left to draw.
    """

    def __init__(
        self,
        make: Callable[..., Policy],
        *,
        predictor: str | None = "oracle",
        placement: str = "heavy-edge",
        fixed: tuple[str, ...] = (),
    ) -> None:
        self.make = make
        self.__name__, self.__doc__, self.__module__ = make.__name__, make.__doc__, make.__module__
        self._wanted = inspect.signature(make).parameters
        self._rule: dict[str, Any] = {
            "predictor": predictor or "oracle",
            "predictor_parameters": None,
            "placement": placement,
        }
        open_choices = {}
        if predictor is not None and "predictor" not in fixed:
            open_choices = {"predictor": "str | Predictor", "predictor_parameters": "Mapping[str, Any] | None"}
        if "placement" not in fixed:
            open_choices["placement"] = "str"
        chosen = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=self._rule[name], annotation=annotation)
            for name, annotation in open_choices.items()
        ]
        first = [Parameter("instance", Parameter.POSITIONAL_OR_KEYWORD, annotation="JobsInstance")]
        if "objective" in self._wanted:
            first.append(self._wanted["objective"])
        if chosen or placement_draws(placement):
            first.append(Parameter("rng", Parameter.POSITIONAL_OR_KEYWORD, annotation="np.random.Generator"))
        first.append(Parameter("callback", Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation="Callback | None"))
        own = [parameter for parameter in self._wanted.values() if parameter.kind is Parameter.KEYWORD_ONLY]
        self.__signature__ = Signature([*first, *chosen, *own], return_annotation="JobsSchedule | None")

    def __call__(self, *arguments: Any, **named: Any) -> JobsSchedule | None:
        """Return the schedule of `simulation`."""
        simulation = self.simulation(*arguments, **named)
        return None if simulation is None else simulation.schedule

    def simulation(self, *arguments: Any, **named: Any) -> Simulation | None:
        """Return the whole run with its log; the arguments are those of a call."""
        bound = self.__signature__.bind(*arguments, **named)
        bound.apply_defaults()
        given = bound.arguments
        policy = self.make(**{key: value for key, value in {**self._rule, **given}.items() if key in self._wanted})
        rule = {key: given.get(key, value) for key, value in self._rule.items()}
        return run_policy(policy, given.get("rng"), given["callback"], **rule)


def online_method(
    *, predictor: str | None = "oracle", placement: str = "heavy-edge", fixed: tuple[str, ...] = ()
) -> Callable[[Callable[..., Policy]], OnlineMethod]:
    """Return a decorator that turns a function which makes a policy into a method, see `OnlineMethod`."""
    return lambda make: OnlineMethod(make, predictor=predictor, placement=placement, fixed=fixed)
