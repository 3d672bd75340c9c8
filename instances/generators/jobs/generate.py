"""The named families of jobs, and one jobs instance from a named family at a chosen load.

The function of a family takes a random generator, a cluster of servers with one kind of GPU each, the length of a tick
in seconds, and keywords: the number of ``jobs``, and parameters of its own. It returns a `JobStream`, and raises
TypeError or ValueError if a parameter is not of its kind or out of range, or no network fits on the cluster.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from instances.clusters.cluster import parse_cluster
from instances.generators.family import Family, loaded_family
from instances.jobs.instance import JobsInstance
from instances.jobs.iteration_time import least_durations
from instances.jobs.servers import jobs_servers
from instances.parameters import check_integer, check_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from instances.clusters.cluster import Cluster
    from instances.jobs.instance import Job
    from instances.jobs.interference import Interference
    from instances.jobs.servers import Racks


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JobStream:
    """Jobs in order of arrival, without releases, and what else an instance of them needs.

    `arrivals` are in any unit, ascending from 0, shape (jobs,).
    """

    jobs: Sequence[Job]
    arrivals: NDArray[np.float64]
    interference: Interference | None = None
    racks: Racks | None = None


@dataclass(frozen=True, slots=True)
class JobsFamily(Family):
    """A family of jobs, with the cluster and the length of a tick that it has where none is given."""

    cluster: str = "mixed-16"
    tick_seconds: float = 1e-3


SMALL_CLUSTER = "2xV100-16GB,2xT4"
"""Cluster of the families for exact methods."""

JOBS_FAMILIES: dict[str, JobsFamily] = {
    "jobs-poisson": JobsFamily(
        ".jobs.independent:poisson",
        "independent training jobs of well-known networks, Poisson arrivals, heavy-tailed run times",
        "sizes of the networks' papers; the rest ours",
    ),
    "jobs-bursty": JobsFamily(
        ".jobs.independent:bursty",
        "the same with arrivals in bursts",
        "Fischer and Meier-Hellstern (1993) for arrivals",
    ),
    "jobs-recurrent": JobsFamily(
        ".jobs.recurrent:recurrent",
        "runs of recurring jobs of users, with Zipf frequencies",
        "Weng et al. (2022) for recurrence",
    ),
    "jobs-small": JobsFamily(
        ".jobs.small:small",
        "jobs of a few ticks with unrelated times, for exact methods",
        "ours",
        cluster=SMALL_CLUSTER,
        tick_seconds=1e-9,
    ),
}
"""Families without interference by name, as on the command line."""

INTERFERING_FAMILIES: dict[str, JobsFamily] = {
    "jobs-co-located": JobsFamily(
        ".jobs.co_located:co_located",
        "the jobs of jobs-poisson, slowed by others on their servers, on racks behind uplinks",
        "ours",
    ),
    "jobs-shared-gpus": JobsFamily(
        ".jobs.co_located:shared_gpus", "the same with two jobs per GPU, without racks", "ours"
    ),
    "jobs-small-co-located": JobsFamily(
        ".jobs.small:small_co_located",
        "jobs of a few ticks that slow each other down, for exact methods",
        "ours",
        cluster=SMALL_CLUSTER,
        tick_seconds=1e-9,
    ),
}
"""Families with interference by name, made by the same function."""

ALL_JOBS_FAMILIES = JOBS_FAMILIES | INTERFERING_FAMILIES
"""All of them."""


def generate_jobs(
    family: str,
    *,
    jobs: int,
    seed: int,
    load: float = 0.7,
    cluster: Cluster | None = None,
    tick_seconds: float | None = None,
    name: str | None = None,
    **parameters: object,
) -> JobsInstance:
    """Make a jobs instance of a named family.

    Parameters
    ----------
    family
        Name in `ALL_JOBS_FAMILIES`.
    seed
        At least 0. Another load leaves the jobs as they are and moves their arrivals only.
    load
        Sum over jobs of gang size times the shortest possible duration, over the number of GPUs times the last arrival;
        0 makes all jobs arrive at once.
    cluster
        Servers of one kind of GPU each; default that of the family.
    tick_seconds
        Length of a tick; default that of the family.
    name
        Name of the instance; the default states family, number of jobs, load and seed.

    Returns
    -------
    JobsInstance
        The same for the same arguments; jobs are numbered by arrival.

    Raises
    ------
    TypeError
        If a parameter is not of its kind.
    ValueError
        If the family or a parameter is unknown, a parameter is out of range, or the jobs do not fit on the cluster.
    """
    make, entry = loaded_family(ALL_JOBS_FAMILIES, family, parameters), ALL_JOBS_FAMILIES[family]
    load = check_number("load", load, low=0.0, high=1e6)
    tick_seconds = check_number(
        "tick_seconds", entry.tick_seconds if tick_seconds is None else tick_seconds, low=1e-12, high=1e6
    )
    where = parse_cluster(entry.cluster) if cluster is None else cluster
    servers = jobs_servers(where, tick_seconds)
    rng = np.random.default_rng(check_integer("seed", seed, low=0))
    stream = make(rng, where, tick_seconds, jobs=jobs, **parameters)
    instance = JobsInstance.from_parts(
        servers,
        stream.jobs,
        name=f"{family}-n{len(stream.jobs)}-load{load:g}-s{seed}" if name is None else name,
        tick_seconds=tick_seconds,
        interference=stream.interference,
        racks=stream.racks,
    )
    return dataclasses.replace(instance, release=releases_at_load(instance, stream.arrivals, load))


def load_factor(instance: JobsInstance) -> float | None:
    """Return the sum over jobs of g * d^lb, over G times the last arrival; None where no job arrives after tick 0."""
    last = int(instance.release.max(initial=0))
    return None if last == 0 else _work(instance) / (instance.num_gpus * last)


def releases_at_load(instance: JobsInstance, arrivals: NDArray[np.float64], load: float) -> NDArray[np.int64]:
    """Return releases in proportion to `arrivals` that give a load.

    Parameters
    ----------
    instance
        The jobs; their releases do not count.
    arrivals
        At least 0, shape (jobs,), in any unit.
    load
        Sum over jobs of g * d^lb over G times the last arrival, met up to rounding to ticks; 0 stands for releases 0.

    Returns
    -------
    NDArray[np.int64]
        Ticks, shape (jobs,).
    """
    latest = float(arrivals.max(initial=0.0))
    if load == 0.0 or latest == 0.0:
        return np.zeros(len(arrivals), dtype=np.int64)
    last = max(1, round(_work(instance) / (instance.num_gpus * load)))
    return np.rint(arrivals / latest * last).astype(np.int64)


def _work(instance: JobsInstance) -> int:
    """Return the sum over jobs of g * d^lb in GPU-ticks, exactly."""
    work = zip(instance.gang_size.tolist(), least_durations(instance).tolist(), strict=True)
    return sum(gang * ticks for gang, ticks in work)
