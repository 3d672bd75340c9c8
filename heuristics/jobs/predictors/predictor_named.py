"""The predictors, by name."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np

    from heuristics.jobs.predictors.predictor import Predictor
    from instances.jobs.jobs_instance import JobsInstance

PREDICTORS = {
    "oracle": "heuristics.jobs.predictors.oracle:Oracle",
    "none": "heuristics.jobs.predictors.no_prediction:NoPrediction",
    "last-run": "heuristics.jobs.predictors.last_run:LastRun",
    "running-median": "heuristics.jobs.predictors.running_median:RunningMedian",
    "global-median": "heuristics.jobs.predictors.global_median:GlobalMedian",
    "random-forest": "heuristics.jobs.predictors.random_forest:RandomForest",
    "median-forest": "heuristics.jobs.predictors.median_forest:MedianForest",
    "noisy-oracle": "heuristics.jobs.predictors.noisy_oracle:NoisyOracle",
}
"""Modules and classes by name; imported when they are first used."""


def predictor_named(name: str, instance: JobsInstance, rng: np.random.Generator, **parameters: Any) -> Predictor:
    """Make a predictor for one run.

    Parameters
    ----------
    name
        A key of `PREDICTORS`.
    instance
        What is scheduled.
    rng
        Source of random numbers; only the forests and ``noisy-oracle`` draw from it.
    parameters
        Parameters of the predictor.

    Returns
    -------
    Predictor
        Without any observation.

    Raises
    ------
    ValueError
        If the name or a parameter is unknown, or a parameter is out of range.
    """
    predictor = predictor_class(name, parameters)
    made: Predictor = predictor(*((instance, rng) if draws_random_numbers(name) else (instance,)), **parameters)
    return made


def predictor_class(name: str, parameters: Iterable[str] = ()) -> type[Any]:
    """Return the class behind a name, which has parameters of these names.

    Raises
    ------
    ValueError
        If the name or a parameter is unknown.
    """
    if name not in PREDICTORS:
        raise ValueError(f"predictor: expected one of {', '.join(PREDICTORS)}, got {name!r}.")
    module, _, kind = PREDICTORS[name].partition(":")
    predictor: type[Any] = getattr(importlib.import_module(module), kind)
    known = [
        key
        for signature in _signatures(predictor)
        for key, item in signature.items()
        if item.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    for parameter in parameters:
        if parameter not in known:
            choices = ", ".join(dict.fromkeys(known)) if known else "no parameters"
            raise ValueError(f"predictor_parameters of {name}: expected {choices}, got {parameter!r}.")
    return predictor


def draws_random_numbers(name: str) -> bool:
    """Say whether the predictor of a name takes a random generator."""
    return "rng" in _signatures(predictor_class(name))[0]


def _signatures(predictor: type[Any]) -> list[Mapping[str, inspect.Parameter]]:
    """Return the parameters of its constructor, then of those that it passes parameters on to."""
    return [inspect.signature(base).parameters for base in predictor.__mro__[:-1] if "__init__" in vars(base)]
