"""Jobs of a few ticks that slow each other down, for methods that prove optima and for enumeration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.jobs.co_located import interfering
from instances.generators.jobs.small import small
from instances.generators.parameter_checks import check_integer

if TYPE_CHECKING:
    import numpy as np

    from instances.cluster import Cluster
    from instances.generators.jobs.job_stream import JobStream


def small_co_located(
    rng: np.random.Generator,
    cluster: Cluster,
    tick_seconds: float,
    *,
    jobs: int,
    share: int = 1,
    strength: float = 1.5,
    classes: int = 2,
    servers_per_rack: int = 0,
    oversubscription: float = 4.0,
    max_gang: int = 2,
    max_stages: int = 2,
    max_time: int = 4,
    max_iterations: int = 3,
    max_weight: int = 3,
    traffic: float = 0.5,
    forbidden: float = 0.1,
) -> JobStream:
    """Make the jobs of `small` with interference by classes that are drawn uniformly.

    Parameters
    ----------
    rng, cluster, tick_seconds, jobs, max_gang, max_stages, max_time, max_iterations, max_weight, traffic, forbidden
        As in `small`.
    share, strength, servers_per_rack, oversubscription
        As in `co_located`.
    classes
        Number of classes.

    Returns
    -------
    JobStream
        Jobs with interference.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.
    """
    stream = small(
        rng,
        cluster,
        tick_seconds,
        jobs=jobs,
        max_gang=max_gang,
        max_stages=max_stages,
        max_time=max_time,
        max_iterations=max_iterations,
        max_weight=max_weight,
        traffic=traffic,
        forbidden=forbidden,
    )
    drawn = rng.integers(0, check_integer("classes", classes, low=1, high=1000), len(stream.jobs))
    return interfering(
        rng,
        cluster,
        tick_seconds,
        stream,
        [f"c{number}" for number in drawn],
        share=share,
        strength=strength,
        servers_per_rack=servers_per_rack,
        oversubscription=oversubscription,
    )
