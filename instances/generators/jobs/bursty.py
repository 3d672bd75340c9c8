"""Independent jobs that arrive in bursts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from instances.generators.jobs.arrivals import bursty_arrivals
from instances.generators.jobs.independent_jobs import independent_jobs
from instances.generators.jobs.job_stream import JobStream
from instances.generators.parameter_checks import check_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from instances.cluster import Cluster


def bursty(
    rng: np.random.Generator,
    cluster: Cluster,
    tick_seconds: float,
    *,
    jobs: int,
    burst_size: float = 10.0,
    burst_speed: float = 20.0,
    models: Sequence[str] | None = None,
    max_gang: int = 32,
    median_seconds: float = 600.0,
    spread: float = 1.5,
    tail: Literal["lognormal", "pareto"] = "lognormal",
) -> JobStream:
    """Make independent jobs whose arrivals alternate between quiet and busy times.

    Parameters
    ----------
    rng, cluster, tick_seconds, jobs
        As in `poisson`.
    burst_size
        Mean number of jobs before quiet and busy times change.
    burst_speed
        Rate of arrivals in busy times over that in quiet ones.
    models, max_gang, median_seconds, spread, tail
        As in `poisson`.

    Returns
    -------
    JobStream
        Jobs without user and group.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range, or no network fits on the cluster.
    """
    burst_size = check_number("burst_size", burst_size, low=1.0)
    burst_speed = check_number("burst_speed", burst_speed, low=1.0)
    made = independent_jobs(
        rng,
        cluster,
        tick_seconds,
        jobs=jobs,
        models=models,
        max_gang=max_gang,
        median_seconds=median_seconds,
        spread=spread,
        tail=tail,
    )
    return JobStream(
        jobs=made, arrivals=bursty_arrivals(rng, len(made), burst_size=burst_size, burst_speed=burst_speed)
    )
