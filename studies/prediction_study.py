"""Which predictor tells iterations best? Predictors over instances in order of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.jobs.predictors.predictor_named import PREDICTORS, predictor_named
from instances.jobs.certified_times import least_durations
from studies.paired_seed import paired_seed
from studies.prediction_quality import PredictionQuality, prediction_quality
from studies.replay_predictions import replay_predictions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from instances.jobs.jobs_instance import JobsInstance


def prediction_study(
    instances: Iterable[JobsInstance],
    predictors: Iterable[str] = tuple(PREDICTORS),
    *,
    seed: int = 0,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    on_quality: Callable[[PredictionQuality], None] = lambda quality: None,
) -> list[PredictionQuality]:
    """Let every predictor predict every job of every instance at its arrival, and compare with the truth.

    Jobs complete at release plus the shortest duration: traces of run times record no waiting, so that a predictor
    learns of a job as soon as it could. That is a split by time at every job: each prediction rests on the jobs that
    completed by then (`replay_predictions`). With `recorded_run_times` the iterations are recorded seconds and the
    errors those of run times; with the readers' instances they are iterations of modelled networks.

    Parameters
    ----------
    instances
        What arrives.
    predictors
        Names in `PREDICTORS`.
    seed
        Of the forests and of noise; every instance has a stream of its own, the same for all predictors.
    parameters
        Parameters of predictors by name.
    on_quality
        Told of every result when it is there.

    Returns
    -------
    list of PredictionQuality
        One per instance and predictor, in order.

    Raises
    ------
    ValueError
        If a predictor or a parameter is unknown, or an instance has no jobs.
    """
    names = list(predictors)
    given = {} if parameters is None else parameters
    for name in given:
        if name not in names:
            raise ValueError(f"parameters: expected names among {', '.join(names)}, got {name!r}.")
    rows = []
    for instance in instances:
        completion = instance.release + least_durations(instance)
        for name in names:
            rng = np.random.default_rng(paired_seed(seed, instance))
            predictor = predictor_named(name, instance, rng, **given.get(name, {}))
            predictions = replay_predictions(instance, predictor, completion)
            fits = getattr(predictor, "fits_", None)
            counted = None if fits is None else len(fits)
            rows.append(prediction_quality(instance, name, predictions, completion, fits=counted))
            on_quality(rows[-1])
    return rows
