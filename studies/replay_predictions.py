"""Predictions of all jobs of an instance in order of time, without a scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.certified_times import least_durations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.predictors.predictor import Predictor
    from instances.jobs.jobs_instance import JobsInstance


def replay_predictions(
    instance: JobsInstance, predictor: Predictor, completion: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Ask for every job at its release and tell of every job at its completion, in order of time.

    Inside a tick completions come before arrivals, each by job, as in the simulator. No job is predicted with knowledge
    of its own time or later, so this is a split by time at every job.

    Parameters
    ----------
    instance
        What arrives.
    predictor
        Without any observation.
    completion
        When each job completes, in ticks, after its release, shape (jobs,), int64. Default: release plus the shortest
        duration, that is without any wait; waiting in a queue only delays what a predictor learns.

    Returns
    -------
    NDArray[np.int64]
        Predicted iterations of every job, shape (jobs,).

    Raises
    ------
    ValueError
        If there is not one completion per job, after its release.
    """
    if completion is None:
        completion = instance.release + least_durations(instance)
    if completion.shape != instance.release.shape:
        raise ValueError(f"completion: expected shape {instance.release.shape}, got {completion.shape}.")
    if (early := np.flatnonzero(completion <= instance.release)).size:
        job = early[0]
        raise ValueError(f"completion[{job}]: expected more than {instance.release[job]}, got {completion[job]}.")
    predictions = np.zeros(instance.num_jobs, dtype=np.int64)
    arrivals, times = np.argsort(instance.release, kind="stable"), completion.tolist()
    ends = np.argsort(completion, kind="stable").tolist()
    num_ended = 0
    for job in arrivals.tolist():
        now = int(instance.release[job])
        while times[ends[num_ended]] <= now:  # the job that arrives has not ended, so the list does not run out
            predictor.observe(ends[num_ended], times[ends[num_ended]])
            num_ended += 1
        predictions[job] = predictor.predict(job, now)
    return predictions
