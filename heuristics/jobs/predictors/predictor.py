"""What every predictor looks like to a simulator, and the predictors by name."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np

    from instances.jobs.instance import JobsInstance


UNKNOWN_ITERATIONS = 1000
"""Prediction where nothing at all has completed; a reconstruction of ours."""


class Predictor(Protocol):
    """Predicts the iterations of a job once, when it arrives, and learns of the true number when it completes.

    Calls come in order of time; inside a tick completions come before arrivals, each by job. So a prediction made at
    r[i] may use the jobs that completed at or before r[i], and no other.
    """

    def predict(self, job: int, time: int) -> int:
        """Return the predicted iterations of a job that arrives, at least 1.

        Parameters
        ----------
        job
            Who arrives; asked for once.
        """
        ...

    def observe(self, job: int, time: int) -> None:
        """Learn the true iterations of a job that completes.

        Parameters
        ----------
        job
            Who completes; told once, after its prediction.
        """
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
"""Modules and classes by name; imported when they are first used."""


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
