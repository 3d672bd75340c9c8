"""Jobs of a few ticks, with and without interference, for methods that prove optima and for enumeration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.generators.jobs.co_located import interfering
from instances.generators.jobs.generate import JobStream
from instances.generators.parameter_checks import check_integer, check_number
from instances.jobs.instance import Job, Stage
from instances.jobs.replicas_fit import replicas_fit

if TYPE_CHECKING:
    from instances.clusters.cluster import Cluster


def small(
    rng: np.random.Generator,
    cluster: Cluster,
    tick_seconds: float,
    *,
    jobs: int,
    max_gang: int = 3,
    max_stages: int = 2,
    max_time: int = 4,
    max_iterations: int = 4,
    max_weight: int = 3,
    traffic: float = 0.5,
    forbidden: float = 0.1,
) -> JobStream:
    """Make jobs whose times are small integers.

    Parameters
    ----------
    rng
        Source of everything.
    cluster
        Servers of one kind of GPU each.
    tick_seconds
        Length of a tick in seconds; sets the bandwidth in bytes per tick, to which traffic is scaled.
    jobs
        Number of jobs.
    max_gang, max_stages, max_time, max_iterations, max_weight
        Largest values; every value from 1 on is equally likely.
    traffic
        Mean time of a tensor through a network interface over the mean time of a stage; 0 for no traffic.
    forbidden
        Share of pairs of a stage and a kind that are not allowed, where a placement is left without them.

    Returns
    -------
    JobStream
        Jobs with times that are unrelated among kinds; arrivals are uniform.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.
    """
    jobs = check_integer("jobs", jobs, low=1)
    max_gang, max_stages, max_time, max_iterations, max_weight = (
        check_integer(name, value, low=1, high=10**6)
        for name, value in (
            ("max_gang", max_gang),
            ("max_stages", max_stages),
            ("max_time", max_time),
            ("max_iterations", max_iterations),
            ("max_weight", max_weight),
        )
    )
    traffic = check_number("traffic", traffic, low=0.0, high=1e3)
    forbidden = check_number("forbidden", forbidden, low=0.0, high=1.0)
    names = list(dict.fromkeys(kind.name for kind in cluster.kinds))
    capacity = [sum(kind.name == name for kind in cluster.kinds) for name in names]
    slowest = min(server.nic_bandwidth for server in cluster.servers) * tick_seconds
    most_bytes = max(0, round(traffic * slowest * (max_time + 1)))
    made = []
    for _ in range(jobs):
        gang = int(rng.integers(1, min(max_gang, len(cluster.kinds)) + 1))
        num_stages = int(rng.integers(1, min(max_stages, gang) + 1))
        replicas = (1 + rng.multinomial(gang - num_stages, np.full(num_stages, 1.0 / num_stages))).tolist()
        times = rng.integers(1, max_time + 1, (num_stages, len(names)))
        allowed = rng.random(times.shape) >= forbidden
        if not replicas_fit(replicas, allowed.tolist(), capacity):
            allowed[:] = True
        sizes = rng.integers(0, most_bytes + 1, (num_stages, 2))
        sizes[-1, 0] = 0
        stages = [
            Stage(
                times={name: int(times[stage, kind]) for kind, name in enumerate(names) if allowed[stage, kind]},
                replicas=replicas[stage],
                activation_bytes=int(sizes[stage, 0]),
                parameter_bytes=int(sizes[stage, 1]),
            )
            for stage in range(num_stages)
        ]
        made.append(
            Job(
                stages=stages,
                iterations=int(rng.integers(1, max_iterations + 1)),
                weight=int(rng.integers(1, max_weight + 1)),
                micro_batches=int(rng.integers(1, 4)),
            )
        )
    arrivals = np.sort(rng.random(jobs))
    return JobStream(jobs=made, arrivals=arrivals - arrivals[0])


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
