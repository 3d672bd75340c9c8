"""Parameters of the registered policies: names that nobody knows, and whether anything is drawn at random."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def check_policy_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse values that would make every run fail: predictor, its parameters, placement, those of A-SRPT and agents.

    Parameters
    ----------
    parameters
        All of a policy, defaults included.

    Raises
    ------
    ValueError
        If a name is unknown or a value out of range; the message begins with the parameter.
    """
    from heuristics.jobs.policies.a_srpt import MODES
    from heuristics.jobs.policies.a_srpt_parameters import ASrptParameters
    from heuristics.jobs.policies.run_policy import PLACEMENTS
    from heuristics.jobs.predictors.predictor_named import predictor_class

    own = parameters.get("predictor_parameters")
    if not (own is None or isinstance(own, dict)):
        raise ValueError(f"predictor_parameters: expected a table such as {{ mu = 2.0 }}, got {own!r}.")
    if "predictor" in parameters:
        predictor_class(str(parameters["predictor"]), own or {})
    of_a_srpt = {name: parameters[name] for name in ("theta", "tau", "eps", "phi") if name in parameters}
    for name, known in (("placement", PLACEMENTS), ("mode", tuple(MODES) if of_a_srpt else ())):
        if known and name in parameters and parameters[name] not in known:
            raise ValueError(f"{name}: expected one of {', '.join(known)}, got {parameters[name]!r}.")
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
    from heuristics.jobs.predictors.predictor_named import draws_random_numbers

    predictor = parameters.get("predictor")
    return parameters.get("placement") == "random" or (predictor is not None and draws_random_numbers(str(predictor)))
