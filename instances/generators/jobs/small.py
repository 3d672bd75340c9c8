"""Jobs of a few ticks, with and without interference, for methods that prove optima and for enumeration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from instances.generators.jobs.co_located import RackLayout, interfering
from instances.generators.jobs.generate import JobStream
from instances.jobs.instance import Job, Stage
from instances.jobs.replicas_fit import replicas_fit
from instances.jobs.servers import jobs_servers
from instances.parameters import check_integer, check_number, fields_as_parameters, set_checked

if TYPE_CHECKING:
    from instances.clusters.cluster import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallJobs:
    """Ranges of small jobs; every value from 1 to the largest is equally likely.

    Parameters
    ----------
    traffic
        Mean time of a tensor through a network interface over the mean time of a stage; 0 for no traffic.
    forbidden
        Share of pairs of a stage and a kind that are not allowed, where a placement is left without them.
    """

    max_gang: int = 3
    max_stages: int = 2
    max_time: int = 4
    max_iterations: int = 4
    max_weight: int = 3
    traffic: float = 0.5
    forbidden: float = 0.1

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in ("max_gang", "max_stages", "max_time", "max_iterations", "max_weight"):
            set_checked(self, **{name: check_integer(name, getattr(self, name), low=1, high=10**6)})
        set_checked(
            self,
            traffic=check_number("traffic", self.traffic, low=0.0, high=1e3),
            forbidden=check_number("forbidden", self.forbidden, low=0.0, high=1.0),
        )


@fields_as_parameters
def small(
    rng: np.random.Generator, cluster: Cluster, tick_seconds: float, *, jobs: int, sizes: SmallJobs = SmallJobs()
) -> JobStream:
    """Make jobs whose times are small integers, unrelated among kinds, with uniform arrivals.

    The bandwidth in bytes per tick follows from the length of a tick, and traffic is scaled to it.
    """
    jobs = check_integer("jobs", jobs, low=1)
    names = list(dict.fromkeys(kind.name for kind in cluster.kinds))
    capacity = [sum(kind.name == name for kind in cluster.kinds) for name in names]
    slowest = min(server.nic_bandwidth for server in cluster.servers) * tick_seconds
    most_bytes = max(0, round(sizes.traffic * slowest * (sizes.max_time + 1)))
    made = []
    for _ in range(jobs):
        gang = int(rng.integers(1, min(sizes.max_gang, len(cluster.kinds)) + 1))
        num_stages = int(rng.integers(1, min(sizes.max_stages, gang) + 1))
        replicas = (1 + rng.multinomial(gang - num_stages, np.full(num_stages, 1.0 / num_stages))).tolist()
        times = rng.integers(1, sizes.max_time + 1, (num_stages, len(names)))
        allowed = rng.random(times.shape) >= sizes.forbidden
        if not replicas_fit(replicas, allowed.tolist(), capacity):
            allowed[:] = True
        data = rng.integers(0, most_bytes + 1, (num_stages, 2))
        data[-1, 0] = 0
        stages = [
            Stage(
                times={name: int(times[stage, kind]) for kind, name in enumerate(names) if allowed[stage, kind]},
                replicas=replicas[stage],
                activation_bytes=int(data[stage, 0]),
                parameter_bytes=int(data[stage, 1]),
            )
            for stage in range(num_stages)
        ]
        made.append(
            Job(
                stages=stages,
                iterations=int(rng.integers(1, sizes.max_iterations + 1)),
                weight=int(rng.integers(1, sizes.max_weight + 1)),
                micro_batches=int(rng.integers(1, 4)),
            )
        )
    arrivals = np.sort(rng.random(jobs))
    return JobStream(jobs=made, arrivals=arrivals - arrivals[0])


@fields_as_parameters
def small_co_located(
    rng: np.random.Generator,
    cluster: Cluster,
    tick_seconds: float,
    *,
    jobs: int,
    share: int = 1,
    strength: float = 1.5,
    classes: int = 2,
    layout: RackLayout = RackLayout(),
    sizes: SmallJobs = SmallJobs(max_gang=2, max_iterations=3),
) -> JobStream:
    """Make the jobs of `small` with interference by so many classes, drawn uniformly; see `co_located`."""
    stream = small(rng, cluster, tick_seconds, jobs=jobs, sizes=sizes)
    drawn = rng.integers(0, check_integer("classes", classes, low=1, high=1000), len(stream.jobs))
    names = [f"c{number}" for number in drawn]
    servers = jobs_servers(cluster, tick_seconds)
    return interfering(rng, servers, stream, names, share=share, strength=strength, layout=layout)
