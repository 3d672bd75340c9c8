"""Small streams of recurring jobs, and a plain replay to hold the study's against."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.servers import JobsServer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.predictors.predictor import Predictor

ARRIVE, COMPLETE = 1, 0


def stream(
    iterations: list[int],
    releases: list[int] | None = None,
    users: list[str | None] | None = None,
    groups: list[str | None] | None = None,
    gpus: list[int] | None = None,
    tags: list[str | None] | None = None,
) -> JobsInstance:
    """Make jobs of one stage that need one tick (a second) per iteration; by default of one user and no group."""
    count = len(iterations)
    jobs = [
        Job(
            stages=[Stage(times=1, replicas=(gpus or [1] * count)[i])],
            iterations=iterations[i],
            release=(releases or list(range(count)))[i],
            user=(users or ["u"] * count)[i],
            group=(groups or [None] * count)[i],
            model_tag=(tags or [None] * count)[i],
        )
        for i in range(count)
    ]
    return JobsInstance.from_parts([JobsServer(kind="any", gpus=16, nic_bytes_per_tick=1)], jobs)


def recurring_stream(jobs: int, seed: int, interval: float = 30.0) -> JobsInstance:
    """Make jobs of users whose groups differ much more than the runs of one group; some users and groups unknown."""
    rng = np.random.default_rng(seed)
    level = np.exp(rng.normal(4.0, 1.5, size=12))
    group = rng.integers(12, size=jobs)
    n = np.maximum(1, np.round(level[group] * np.exp(rng.normal(0.0, 0.3, size=jobs)))).astype(int)
    users: list[str | None] = [None if k == 11 else f"u{k // 3}" for k in group.tolist()]
    groups: list[str | None] = [None if k % 4 == 3 else f"g{k}" for k in group.tolist()]
    releases = np.cumsum(rng.exponential(interval, size=jobs)).astype(int).tolist()
    gpus = (1 + group % 3).tolist()
    return stream(n.tolist(), releases, users, groups, gpus, [f"net{k % 2}" for k in group.tolist()])


def with_iterations(instance: JobsInstance, iterations: NDArray[np.int64]) -> JobsInstance:
    """Return the same jobs with other iterations."""
    return dataclasses.replace(instance, iterations=iterations)


def plain_replay(instance: JobsInstance, predictor: Predictor, completion: NDArray[np.int64]) -> list[int]:
    """Predict and observe in order of (time, completions first, job), by sorting events."""
    events = [(int(completion[j]), COMPLETE, j) for j in range(instance.num_jobs)]
    events += [(int(instance.release[j]), ARRIVE, j) for j in range(instance.num_jobs)]
    predictions = [0] * instance.num_jobs
    for time, event, job in sorted(events):
        if event == ARRIVE:
            predictions[job] = predictor.predict(job, time)
        else:
            predictor.observe(job, time)
    return predictions
