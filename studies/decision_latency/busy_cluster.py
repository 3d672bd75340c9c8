"""Clusters of any size in which much runs already while jobs arrive."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from instances.cluster import parse_cluster
from instances.generators.jobs.co_located import co_located
from instances.generators.jobs.draw_interference import draw_racks
from instances.jobs.jobs_instance import JobsInstance
from instances.jobs.jobs_server import JobsServer

if TYPE_CHECKING:
    from instances.generators.jobs.job_stream import JobStream
    from instances.jobs.job import Job

GPUS_PER_SERVER, SERVERS_PER_RACK = 8, 4

CLUSTER, MAX_GANG, TICK_SECONDS = "mixed-64", 16, 1e-3
"""Whose kinds of GPU the servers have in turn, and for which jobs are generated."""

BUSY_SHARE = Fraction(3, 4)
"""Of the GPUs, taken by jobs that run throughout."""

BURST, BURST_TICKS = 16, 10_000
"""Jobs that arrive at once, and ticks from one time to the next: time to complete one iteration."""

RUN_TICKS = 400_000
"""Jobs that run throughout run at least that long."""

_MODELS = 500
"""Different generated jobs; more of them are copies, as where jobs recur."""

_UPLINK_OVERSUBSCRIPTION = 4.0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BusyCluster:
    """An instance and what is special about it.

    Parameters
    ----------
    instance
        First the jobs that run throughout, from tick 0 on, larger gangs first; then `arrivals` jobs of one iteration,
        `BURST` of them every `BURST_TICKS`.
    num_running
        Of the former.
    """

    instance: JobsInstance
    num_running: int


def busy_cluster(num_servers: int, arrivals: int, seed: int) -> BusyCluster:
    """Return servers of eight like GPUs of four kinds in turn, four servers to a rack, and jobs that interfere; ours.

    Jobs are those of ``jobs-co-located`` with gangs of 1 to 16 GPUs, the same for every number of servers but for how
    many of them run.

    Parameters
    ----------
    num_servers
        At least 1.
    arrivals
        Jobs to decide on, at least 1.
    seed
        Of the jobs.

    Raises
    ------
    ValueError
        If there are no servers or no arrivals.
    """
    if num_servers < 1:
        raise ValueError(f"num_servers: expected at least 1, got {num_servers}.")
    if arrivals < 1:
        raise ValueError(f"arrivals: expected at least 1, got {arrivals}.")
    stream = _stream(seed)
    like = [(server.kinds[0].name, server.nic_bandwidth) for server in parse_cluster(CLUSTER).servers[::2]]
    servers = []
    for server in range(num_servers):
        kind, bandwidth = like[server % len(like)]
        bytes_per_tick = Fraction(round(bandwidth)) * Fraction(repr(TICK_SECONDS))
        servers.append(JobsServer(kind=kind, gpus=GPUS_PER_SERVER, nic_bytes_per_tick=bytes_per_tick))
    gangs = np.array([sum(stage.replicas for stage in job.stages) for job in stream.jobs])
    wanted = int(BUSY_SHARE * num_servers * GPUS_PER_SERVER)
    number = np.arange(max(1, wanted)) % _MODELS  # a gang has at least one GPU
    running = number[: np.searchsorted(gangs[number].cumsum(), wanted, side="right")]
    running = running[np.argsort(-gangs[running], kind="stable")]
    arriving = np.arange(len(running), len(running) + arrivals) % _MODELS
    jobs: list[Job] = [_long(stream.jobs[each]) for each in running.tolist()]
    for position, each in enumerate(arriving.tolist()):
        release = 1 + BURST_TICKS * (position // BURST)
        jobs.append(dataclasses.replace(stream.jobs[each], iterations=1, release=release))
    chosen, interference = np.concatenate([running, arriving]), stream.interference
    assert interference is not None  # the family has it
    instance = JobsInstance.from_parts(
        servers,
        jobs,
        name=f"busy-{num_servers}-servers",
        tick_seconds=TICK_SECONDS,
        interference=dataclasses.replace(
            interference,
            use=interference.use[chosen],
            sens=interference.sens[chosen],
            job_class=interference.job_class[chosen],
        ),
        racks=draw_racks(servers, SERVERS_PER_RACK, _UPLINK_OVERSUBSCRIPTION),
    )
    return BusyCluster(instance=instance, num_running=len(running))


def _long(job: Job) -> Job:
    """Return a job that runs for `RUN_TICKS` or more: no iteration is shorter than a stage on its fastest kind."""
    fastest = [min(filter(None, stage.times.values())) for stage in job.stages if not isinstance(stage.times, int)]
    return dataclasses.replace(job, iterations=-(-RUN_TICKS // max(fastest)))


@cache
def _stream(seed: int) -> JobStream:
    """Return generated jobs."""
    cluster = parse_cluster(CLUSTER)
    return co_located(np.random.default_rng(seed), cluster, TICK_SECONDS, jobs=_MODELS, max_gang=MAX_GANG)
