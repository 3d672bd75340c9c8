"""Instances to train, choose and report on, from the settings, and the speeds at which jobs run in training."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import TYPE_CHECKING

from heuristics.jobs.interference_predictor.predicted_co_location import predicted_jobs
from instances.clusters.cluster import parse_cluster
from instances.generators.jobs.generate import generate_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from heuristics.jobs.interference_predictor.predictor import InterferencePredictor
    from heuristics.jobs.marl.training.settings import TrainingSettings
    from heuristics.jobs.placements.running_jobs import RunningJobs
    from instances.jobs.instance import JobsInstance


_VALIDATION, _HELD_OUT = 1_000_000_000, 2_000_000_000
"""First seeds of the sets; those of training are lower."""


def training_instance(settings: TrainingSettings, rng: np.random.Generator) -> JobsInstance:
    """Return the instance of an episode, by a seed below those of the other sets."""
    return _instance(settings, int(rng.integers(_VALIDATION)))


def validation_set(settings: TrainingSettings) -> list[JobsInstance]:
    """Return the instances on which the best network is chosen, the same for every seed of a training."""
    return [_instance(settings, _VALIDATION + number) for number in range(settings.validation_instances)]


def held_out_set(settings: TrainingSettings, count: int) -> list[JobsInstance]:
    """Return instances for reported numbers; nothing is chosen by them."""
    return [_instance(settings, _HELD_OUT + number) for number in range(count)]


def jobs_instances_sha256(instances: Sequence[JobsInstance]) -> str:
    """Return one hash of all instances: the SHA-256 of their content hashes, one per line."""
    text = "".join(f"{instance.sha256}\n" for instance in instances)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def without_interference(instance: JobsInstance) -> JobsInstance:
    """Return the same jobs on the same servers without interference."""
    return dataclasses.replace(instance, interference=None)


def _instance(settings: TrainingSettings, seed: int) -> JobsInstance:
    """Generate an instance."""
    return generate_jobs(
        settings.family,
        jobs=settings.jobs,
        seed=seed,
        load=settings.load,
        cluster=parse_cluster(settings.cluster),
        max_gang=settings.max_gang,
        spread=settings.spread,
        strength=settings.strength,
    )


def at_training_speeds(
    settings: TrainingSettings, instance: JobsInstance, predictor: InterferencePredictor | None
) -> tuple[JobsInstance, RunningJobs | None]:
    """Return the instance that training simulates, and the model of completions, None for the true one.

    Parameters
    ----------
    instance
        Instance with interference.
    predictor
        Predictor of interference, needed if speeds are predicted.

    Raises
    ------
    ValueError
        If speeds are predicted and there is no predictor.
    """
    if settings.speeds == "none":
        return without_interference(instance), None
    if settings.speeds == "true" or instance.interference is None:
        return instance, None
    if predictor is None:
        raise ValueError("predictor: expected one, as speeds are predicted, got None.")
    return instance, predicted_jobs(instance, predictor)
