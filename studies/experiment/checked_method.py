"""A method of a study with its parameters checked against its signature, before anything runs."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from instances.fields import one_of
from instances.spelling import did_you_mean
from solvers.check_arguments import GIVEN_BY_SOLVE
from solvers.problem import PROBLEMS
from studies.experiment.specification import DAG

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def method_of(name: str, problem: str = DAG) -> str | Callable[..., Any]:
    """Return what `solve` takes as method: a registered name as it is, or the function behind ``module:function``.

    Raises a `ValueError` if there is no such method or function.
    """
    if ":" not in name:
        known = PROBLEMS[problem].methods
        if name not in known:
            expected = f"one of {', '.join(known)} or MODULE:FUNCTION"
            raise ValueError(f"method: expected {expected}, got {name!r}{did_you_mean(name, known)}.")
        return name
    module, _, function = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), function)
    except Exception as error:  # whatever happens in a module of somebody else
        hint = "; is its folder in PYTHONPATH?" if isinstance(error, ModuleNotFoundError) else ""
        said = f"{type(error).__name__}: {error}{hint}"
        raise ValueError(f"method: expected MODULE:FUNCTION that can be imported, got {name!r} ({said}).") from error
    if not callable(found):
        raise ValueError(f"method: expected MODULE:FUNCTION that can be called, got {name!r}, which is {found!r}.")
    function_found: Callable[..., Any] = found
    return function_found


class CheckedMethod:
    """A method with its parameters checked against its signature.

    Attributes
    ----------
    all_parameters
        Given ones, and the defaults of all others; what is no JSON by a text that is the same in every process.
    is_seeded
        Whether random numbers may decide something: such runs are repeated, with a seed each.

    Raises
    ------
    ValueError
        If there is no such method, it has no such parameter, or one without a default is not given.
    """

    def __init__(self, place: str, name: str, parameters: Mapping[str, Any], problem: str = DAG) -> None:
        try:
            method = method_of(name, problem)
        except ValueError as error:
            raise ValueError(f"{place}.{error}") from error
        self.kind, function = PROBLEMS[problem].resolve_method(method)
        signature = inspect.signature(function).parameters
        accepted = {key: value for key, value in signature.items() if key not in GIVEN_BY_SOLVE}
        takes_all = any(value.kind is value.VAR_KEYWORD for value in accepted.values())
        for key in parameters:
            if key in GIVEN_BY_SOLVE or (key not in accepted and not takes_all):
                expected = f"a parameter of {name} ({', '.join(accepted) or 'it has none'})"
                hint = did_you_mean(key, accepted)
                raise ValueError(f"{place}.parameters: expected {expected}, got {key!r}{hint}.")
        if not isinstance(method, str):
            _check_complete(place, name, signature, parameters)
        defaults = {key: value.default for key, value in accepted.items() if value.default is not value.empty}
        values = {**defaults, **parameters}
        self.all_parameters = json.loads(json.dumps(values, default=_stable_text))
        is_registered = isinstance(method, str)
        if is_registered and "weights" in accepted:
            self.all_parameters["weights"] = _chosen_network(place, name, values)
        self.is_seeded = "rng" in signature or self.kind not in ("construction", "policy")
        if is_registered and self.kind == "policy":
            try:
                check_policy_parameters(values)
            except ValueError as error:
                raise ValueError(f"{place}.parameters.{error}") from error
            self.is_seeded = policy_draws(values)


def _check_complete(
    place: str, name: str, signature: Mapping[str, inspect.Parameter], parameters: Mapping[str, Any]
) -> None:
    """Refuse a function that takes no instance, or lacks a parameter."""
    if not signature:
        raise ValueError(f"{place}.method: expected a function of an instance, got {name}, which takes nothing.")
    for key, value in list(signature.items())[1:]:
        is_needed = value.default is value.empty and value.kind not in (value.VAR_POSITIONAL, value.VAR_KEYWORD)
        if is_needed and key not in GIVEN_BY_SOLVE and key not in parameters:
            raise ValueError(f"{place}.parameters: expected {key!r}, which {name} has no default for, got none.")


def _stable_text(value: object) -> str:
    """Return a text of a default that is no JSON, without the address that it has in this process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", str(value))


def _chosen_network(place: str, name: str, values: Mapping[str, Any]) -> str:
    """Return the content hash of a method's weights: other weights are another run, whatever their file is called."""
    try:
        return network_sha256(name, values)
    except (OSError, ValueError) as error:
        given = next((key for key in NETWORK_PARAMETERS if values.get(key) is not None), NETWORK_PARAMETERS[0])
        raise ValueError(f"{place}.parameters.{given}: expected weights, got: {error}") from error


def check_policy_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse values that would make every run fail: predictor, its parameters, placement, those of A-SRPT and agents.

    The parameters include defaults. Raises a `ValueError` if a name is unknown or a value out of range; the message
    begins with the parameter.
    """
    from heuristics.jobs.placements.registry import placement_rule
    from heuristics.jobs.policies.a_srpt import MODES
    from heuristics.jobs.policies.guided_policy import ASrptParameters
    from heuristics.jobs.predictors.predictor import predictor_class

    own = parameters.get("predictor_parameters")
    if not (own is None or isinstance(own, dict)):
        raise ValueError(f"predictor_parameters: expected a table such as {{ mu = 2.0 }}, got {own!r}.")
    if "predictor" in parameters:
        predictor_class(str(parameters["predictor"]), own or {})
    of_a_srpt = {each.name: parameters[each.name] for each in fields(ASrptParameters) if each.name in parameters}
    if "placement" in parameters:
        placement_rule(parameters["placement"])
    mode = parameters.get("mode")
    if of_a_srpt and mode is not None:
        one_of(mode, MODES, "mode")
    for name, low in (("agents", 1), ("forwards", 0)):
        value = parameters.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < low):
            raise ValueError(f"{name}: expected an integer of at least {low}, got {value!r}.")
    if of_a_srpt:
        ASrptParameters.of(**of_a_srpt)


def policy_draws(parameters: Mapping[str, Any]) -> bool:
    """Say whether a registered policy draws random numbers with these parameters, defaults included.

    Policies hand their generator to their placement rule and predictor, where they have them, and draw nothing
    themselves. So they draw where the predictor takes a generator (noisy oracle, forests) or the placement is random.
    """
    from heuristics.jobs.placements.registry import placement_draws
    from heuristics.jobs.predictors.predictor import draws_random_numbers

    rules = (("placement", placement_draws), ("predictor", draws_random_numbers))
    return any(draws(str(parameters[name])) for name, draws in rules if parameters.get(name) is not None)


AGENTS = "marl"
"""Method whose networks are those of `heuristics.jobs.marl`; all other methods with weights use those of WORL-RTGS."""

NETWORK_PARAMETERS = ("weights", "training", "stage")
"""Parameters that choose a network; that of WORL-RTGS is chosen by the first alone."""


def network_sha256(method: str, parameters: Mapping[str, Any]) -> str:
    """Return the hash of the network, whatever its file is called.

    Parameters
    ----------
    method
        A registered method with a parameter ``weights``.
    parameters
        Given parameters; missing ones are None.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it holds no network, or there is no such shipped one.
    """
    weights, training, stage = (parameters.get(name) for name in NETWORK_PARAMETERS)
    if method == AGENTS:
        from heuristics.jobs.marl.shipped_networks import network_from

        return network_from(weights, training, stage).sha256
    from heuristics.dag.worl_rtgs.network import weights_from, weights_sha256

    return weights_sha256(weights_from(weights))
