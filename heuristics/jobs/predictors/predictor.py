"""The protocol of predictors, and every predictor by name; a new one needs its class and one line here."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any, Protocol

from instances.fields import one_of
from instances.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np

    from instances.jobs.instance import JobsInstance


UNKNOWN_ITERATIONS = 1000
"""Prediction before any job has completed; a reconstruction of ours."""


class Predictor(Protocol):
    """Predicts the iterations of a job once, when it arrives, and learns of the true number when it completes.

    Calls come in order of time; inside a tick completions come before arrivals, each by job. A prediction made at r[i]
    may therefore use the jobs that completed at or before r[i], and no others.
    """

    def predict(self, job: int, time: int) -> int:
        """Return the predicted iterations of a job that arrives, at least 1. Each job is predicted once."""
        ...

    def observe(self, job: int, time: int) -> None:
        """Learn the true iterations of a job that completes. Each is reported once, after its prediction."""
        ...


PREDICTORS = {
    "oracle": "heuristics.jobs.predictors.simple_predictors:Oracle",
    "none": "heuristics.jobs.predictors.simple_predictors:NoPrediction",
    "last-run": "heuristics.jobs.predictors.simple_predictors:LastRun",
    "running-median": "heuristics.jobs.predictors.simple_predictors:RunningMedian",
    "global-median": "heuristics.jobs.predictors.simple_predictors:GlobalMedian",
    "random-forest": "heuristics.jobs.predictors.forests:RandomForest",
    "median-forest": "heuristics.jobs.predictors.forests:MedianForest",
    "noisy-oracle": "heuristics.jobs.predictors.simple_predictors:NoisyOracle",
}
"""Modules and classes by name; imported on first use."""


def predictor_named(name: str, instance: JobsInstance, rng: np.random.Generator | None, **parameters: Any) -> Predictor:
    """Make a predictor for one run.

    Parameters
    ----------
    name
        A key of `PREDICTORS`.
    rng
        May be None for a predictor that draws no random numbers.

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

    Raises a `ValueError` if the name or a parameter is unknown.
    """
    one_of(name, PREDICTORS, "predictor")
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
            hint = did_you_mean(parameter, known)
            raise ValueError(f"predictor_parameters of {name}: expected {choices}, got {parameter!r}{hint}.")
    return predictor


def draws_random_numbers(name: str) -> bool:
    """Return whether the predictor of a name takes a random generator."""
    return "rng" in _signatures(predictor_class(name))[0]


def _signatures(predictor: type[Any]) -> list[Mapping[str, inspect.Parameter]]:
    """Return the parameters of its constructor and of the inherited constructors that it passes parameters on to."""
    return [inspect.signature(base).parameters for base in predictor.__mro__[:-1] if "__init__" in vars(base)]
