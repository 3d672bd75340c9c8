"""Objectives, durations and completion times of schedules of jobs, recomputed from the schedule alone."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from instances.jobs.co_location import CoLocation, resource_demand
from instances.jobs.iteration_time import duration_for, iteration_parts_on
from instances.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule


class JobsObjective(StrEnum):
    """What is minimised."""

    TOTAL_COMPLETION = "total_completion"
    """Sum over jobs of their completion times, in ticks: all weights 1."""
    WEIGHTED_COMPLETION = "weighted_completion"
    """Sum over jobs of weight times completion time, in ticks."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        """Name the choices."""
        raise ValueError(f"objective: expected one of {', '.join(cls)}, got {value!r}{did_you_mean(value, cls)}.")


def objective_weights(instance: JobsInstance, objective: JobsObjective | str) -> NDArray[np.int64]:
    """Return the weight of every job under an objective, shape (jobs,)."""
    if JobsObjective(objective) is JobsObjective.TOTAL_COMPLETION:
        return np.ones(instance.num_jobs, dtype=np.int64)
    return instance.weight


def placed_durations(instance: JobsInstance, schedule: JobsSchedule) -> NDArray[np.int64]:
    """Return d(x) = ceil(n * alpha(x)) of every job in ticks, shape (jobs,): its duration without other jobs."""
    iterations = instance.iterations.tolist()
    durations = []
    for job, servers, counts in _placed(instance, schedule):
        comp, comm = iteration_parts_on(instance, job, servers, counts)
        durations.append(duration_for(iterations[job], comp + comm))
    return np.array(durations, dtype=np.int64)


def job_durations(instance: JobsInstance, schedule: JobsSchedule) -> NDArray[np.int64]:
    """Return the duration of every job in ticks, shape (jobs,): d(x), or more where other jobs interfere.

    Under interference the durations follow from a replay of all starts and completions in order of time.
    """
    alone = placed_durations(instance, schedule)
    if instance.interference is None:
        return alone
    return _replayed(instance, schedule, alone) - schedule.start


def job_completion_times(instance: JobsInstance, schedule: JobsSchedule) -> NDArray[np.int64]:
    """Return start plus duration of every job in ticks, shape (jobs,); JCT is this less the release."""
    return schedule.start + job_durations(instance, schedule)


def _placed(instance: JobsInstance, schedule: JobsSchedule) -> Iterator[tuple[int, list[int], list[list[int]]]]:
    """Yield every job with its servers and, for each stage, its replicas on each of them."""
    offsets, entries = instance.stage_offsets.tolist(), schedule.entry_offsets.tolist()
    entry_server, entry_count = schedule.entry_server.tolist(), schedule.entry_count.tolist()
    for job in range(instance.num_jobs):
        first, last = offsets[job], offsets[job + 1]
        servers = sorted(set(entry_server[entries[first] : entries[last]]))
        column = {server: index for index, server in enumerate(servers)}
        counts = [[0] * len(servers) for _ in range(first, last)]
        for row, stage in enumerate(range(first, last)):
            for entry in range(entries[stage], entries[stage + 1]):
                counts[row][column[entry_server[entry]]] = entry_count[entry]
        yield job, servers, counts


def _replayed(instance: JobsInstance, schedule: JobsSchedule, alone: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the completion times under interference."""
    demands = [resource_demand(instance, *placed) for placed in _placed(instance, schedule)]
    starts, ticks = schedule.start.tolist(), alone.tolist()
    completion = np.zeros(instance.num_jobs, dtype=np.int64)
    together = CoLocation(instance)
    for job in [*sorted(range(instance.num_jobs), key=lambda job: (starts[job], job)), None]:
        while (end := together.next_completion()) is not None and (job is None or end <= starts[job]):
            completion[together.complete(end)] = end
        if job is not None:
            gpus = schedule.gpus_of(instance, job) if instance.share > 1 else ()
            together.start(job, starts[job], ticks[job], demands[job], gpus)
    return completion


def jobs_objective_value(instance: JobsInstance, schedule: JobsSchedule, objective: JobsObjective | str) -> int:
    """Recompute an objective from the schedule alone.

    Parameters
    ----------
    schedule
        A schedule of it that verifies; the value of another one means nothing.
    objective
        A member of `JobsObjective` or its name.

    Returns
    -------
    int
        Ticks (total completion) or weighted ticks (weighted completion).

    Raises
    ------
    ValueError
        If there is no such objective.
    """
    weights = objective_weights(instance, objective).tolist()
    completions = job_completion_times(instance, schedule).tolist()
    return sum(weight * completion for weight, completion in zip(weights, completions, strict=True))
