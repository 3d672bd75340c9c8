"""At which speeds jobs run in training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.interference_predictor.predicted_co_location import predicted_jobs
from heuristics.jobs.marl.training.training_instance import without_interference

if TYPE_CHECKING:
    from heuristics.jobs.interference_predictor.interference_predictor import InterferencePredictor
    from heuristics.jobs.marl.training.training_settings import TrainingSettings
    from heuristics.jobs.running_jobs import RunningJobs
    from instances.jobs.jobs_instance import JobsInstance


def at_training_speeds(
    settings: TrainingSettings, instance: JobsInstance, predictor: InterferencePredictor | None
) -> tuple[JobsInstance, RunningJobs | None]:
    """Return what is simulated in training: an instance, and what knows the completions, None for the true model.

    Parameters
    ----------
    settings
        Speeds.
    instance
        Of a training, with interference.
    predictor
        Of interference, where speeds are predicted.

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
