"""Jobs of equal width in order of duration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from instances.generators.jobs.plant_full_slots import DURATIONS
from instances.generators.jobs.planted_job import PlantedJob, planted_job
from instances.generators.parameter_checks import check_integer

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from instances.jobs.jobs_server import JobsServer


def plant_equal_gangs(
    rng: np.random.Generator, servers: Sequence[JobsServer], *, jobs: int, gang: int | None, **shape: float
) -> list[PlantedJob]:
    """Deal jobs in order of duration to shares of servers; the proof stands in `planted_jobs`.

    Raises
    ------
    ValueError
        If the gang does not divide the GPUs of every server.
    """
    widest = math.gcd(*(server.gpus for server in servers))
    divisors = [value for value in range(1, widest + 1) if widest % value == 0]
    width = int(rng.choice(divisors)) if gang is None else check_integer("gang", gang, low=1)
    if width not in divisors:
        expected = " or ".join(map(str, divisors))
        raise ValueError(f"gang: expected {expected}, which divide the GPUs of every server, got {width}.")
    homes = [number for number, server in enumerate(servers) for _ in range(server.gpus // width)]
    homes = [homes[index] for index in rng.permutation(len(homes))]
    free_at = [0] * len(homes)
    plan = []
    for number, duration in enumerate(sorted(rng.choice(DURATIONS, size=jobs).tolist())):
        place = number % len(homes)
        plan.append(
            planted_job(
                rng,
                servers,
                server=homes[place],
                gang=width,
                start=free_at[place],
                duration=duration,
                weight=1,
                **shape,  # type: ignore[arg-type]  # integers and numbers, checked by the caller
            )
        )
        free_at[place] += duration
    return [plan[index] for index in rng.permutation(jobs)]
