"""Training jobs that slow each other down on servers behind uplinks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from instances.generators.jobs.draw_interference import draw_interference, draw_racks
from instances.generators.jobs.job_stream import JobStream
from instances.generators.jobs.jobs_servers import jobs_servers
from instances.generators.jobs.poisson import poisson
from instances.generators.parameter_checks import check_integer, check_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from instances.cluster import Cluster
    from instances.jobs.job import Job


def co_located(
    rng: np.random.Generator,
    cluster: Cluster,
    tick_seconds: float,
    *,
    jobs: int,
    share: int = 1,
    strength: float = 1.0,
    servers_per_rack: int = 2,
    oversubscription: float = 4.0,
    models: Sequence[str] | None = None,
    max_gang: int = 32,
    median_seconds: float = 600.0,
    spread: float = 1.5,
    tail: Literal["lognormal", "pareto"] = "lognormal",
) -> JobStream:
    """Make the jobs of `poisson` with interference by network and racks.

    Parameters
    ----------
    rng, cluster, tick_seconds, jobs, models, max_gang, median_seconds, spread, tail
        As in `poisson`.
    share
        Jobs per GPU, 1 or 2.
    strength
        Of the demand for cpu and pcie, see `draw_interference`; at 1 a full server asks for about what it has.
    servers_per_rack
        Servers behind one uplink; 0 for no racks.
    oversubscription
        Bandwidth of the network interfaces in a rack over that of its uplink.

    Returns
    -------
    JobStream
        Jobs whose class is their network.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range, or no network fits on the cluster.
    """
    stream = poisson(
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
    return interfering(
        rng,
        cluster,
        tick_seconds,
        stream,
        [str(job.model_tag) for job in stream.jobs],
        share=share,
        strength=strength,
        servers_per_rack=servers_per_rack,
        oversubscription=oversubscription,
    )


def shared_gpus(
    rng: np.random.Generator,
    cluster: Cluster,
    tick_seconds: float,
    *,
    jobs: int,
    strength: float = 1.0,
    servers_per_rack: int = 0,
    oversubscription: float = 4.0,
    models: Sequence[str] | None = None,
    max_gang: int = 32,
    median_seconds: float = 600.0,
    spread: float = 1.5,
    tail: Literal["lognormal", "pareto"] = "lognormal",
) -> JobStream:
    """Make the same with two jobs per GPU and, unless asked for, without racks; parameters as in `co_located`."""
    return co_located(
        rng,
        cluster,
        tick_seconds,
        jobs=jobs,
        share=2,
        strength=strength,
        servers_per_rack=servers_per_rack,
        oversubscription=oversubscription,
        models=models,
        max_gang=max_gang,
        median_seconds=median_seconds,
        spread=spread,
        tail=tail,
    )


def interfering(
    rng: np.random.Generator,
    cluster: Cluster,
    tick_seconds: float,
    stream: JobStream,
    class_of: Sequence[str],
    *,
    share: int,
    strength: float,
    servers_per_rack: int,
    oversubscription: float,
) -> JobStream:
    """Return a stream with interference and racks; parameters as in `co_located`, `class_of` names a class per job."""
    made: Sequence[Job] = stream.jobs
    servers = jobs_servers(cluster, tick_seconds)
    return JobStream(
        jobs=made,
        arrivals=stream.arrivals,
        interference=draw_interference(
            rng,
            class_of,
            gpus_per_server=max(server.gpus for server in servers),
            share=check_integer("share", share, low=1, high=2),
            strength=check_number("strength", strength, low=0.0, high=1e3),
        ),
        racks=draw_racks(
            servers,
            check_integer("servers_per_rack", servers_per_rack, low=0),
            check_number("oversubscription", oversubscription, low=1e-3, high=1e6),
        ),
    )
