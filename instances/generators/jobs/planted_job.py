"""One job of a planted schedule, with a duration that no other placement shortens."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.job import Job, Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.jobs.jobs_server import JobsServer


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedJob:
    """A job, and where and when it is planted.

    Parameters
    ----------
    job
        The job.
    server
        Server that holds all of it.
    start, duration
        Ticks.
    """

    job: Job
    server: int
    start: int
    duration: int


def planted_job(
    rng: np.random.Generator,
    servers: Sequence[JobsServer],
    *,
    server: int,
    gang: int,
    start: int,
    duration: int,
    weight: int,
    max_stages: int,
    max_slowdown: float,
    forbidden: float,
    tightness: float,
) -> PlantedJob:
    """Make a job that takes `duration` ticks on a server and cannot take less anywhere.

    The duration is cut into n iterations of Q + S - 1 steps of p ticks, all of which divide it: the slowest stage takes
    p on the planted kind, and at least p on every other. So (Q + S - 1) p n is the duration on the server, where the
    job has no traffic, and a lower bound everywhere.
    """
    kinds = list(dict.fromkeys(item.kind for item in servers))
    own = servers[server].kind
    steps = _divisor(rng, duration, 4 * max_stages)
    num_stages = int(rng.integers(1, min(max_stages, steps, gang) + 1))
    slowest = _divisor(rng, duration // steps, duration)
    replicas = (1 + rng.multinomial(gang - num_stages, np.full(num_stages, 1.0 / num_stages))).tolist()
    bottleneck = int(rng.integers(num_stages))
    one_tick_of_traffic = math.ceil(max(item.nic_bytes_per_tick for item in servers))
    stages = []
    for stage in range(num_stages):
        base = slowest if stage == bottleneck else int(rng.integers(1, slowest + 1))
        times: dict[str, int | None] = {own: base}
        for kind in kinds:
            if kind != own and rng.random() >= forbidden:
                times[kind] = max(base, math.ceil(base * rng.uniform(1.0, max_slowdown)))
        activations = 0 if stage == num_stages - 1 else int(rng.integers(1, 4 * slowest + 1)) * one_tick_of_traffic
        parameters = int(rng.integers(1, 4 * slowest + 1)) * one_tick_of_traffic
        stages.append(
            Stage(times=times, replicas=replicas[stage], activation_bytes=activations, parameter_bytes=parameters)
        )
    job = Job(
        stages=stages,
        iterations=duration // (steps * slowest),
        release=start if rng.random() < tightness else int(rng.integers(start + 1)),
        weight=weight,
        micro_batches=steps - num_stages + 1,
    )
    return PlantedJob(job=job, server=server, start=start, duration=duration)


def _divisor(rng: np.random.Generator, number: int, largest: int) -> int:
    """Draw a divisor of a number, at most `largest`."""
    choices = [value for value in range(1, min(number, largest) + 1) if number % value == 0]
    return int(rng.choice(choices))
