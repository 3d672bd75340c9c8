"""Independent jobs that arrive at random."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from instances.generators.jobs.arrivals import poisson_arrivals
from instances.generators.jobs.independent_jobs import independent_jobs
from instances.generators.jobs.job_stream import JobStream

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from instances.cluster import Cluster


def poisson(
    rng: np.random.Generator,
    cluster: Cluster,
    tick_seconds: float,
    *,
    jobs: int,
    models: Sequence[str] | None = None,
    max_gang: int = 32,
    median_seconds: float = 600.0,
    spread: float = 1.5,
    tail: Literal["lognormal", "pareto"] = "lognormal",
) -> JobStream:
    """Make independent jobs whose arrivals are a Poisson process.

    Parameters
    ----------
    rng
        Source of everything.
    cluster
        Servers of one kind of GPU each.
    tick_seconds
        Length of a tick in seconds.
    jobs
        Number of jobs.
    models
        Networks to draw from, equally likely; None stands for all of `NETWORK_MODELS`.
    max_gang
        Largest gang size that is drawn.
    median_seconds
        Median run time on the fastest kinds without traffic between servers.
    spread
        How far run times spread, as in `run_times`.
    tail
        ``lognormal`` or ``pareto``.

    Returns
    -------
    JobStream
        Jobs without user and group, as nothing recurs.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range, or no network fits on the cluster.
    """
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
    return JobStream(jobs=made, arrivals=poisson_arrivals(rng, len(made)))
