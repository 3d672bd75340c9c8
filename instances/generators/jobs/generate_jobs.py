"""One jobs instance from a named family, at a load of choice."""

from __future__ import annotations

import dataclasses
import difflib
from typing import TYPE_CHECKING

import numpy as np

from instances.cluster import parse_cluster
from instances.generators.jobs.families import ALL_JOBS_FAMILIES
from instances.generators.jobs.jobs_servers import jobs_servers
from instances.generators.jobs.releases_at_load import releases_at_load
from instances.generators.parameter_checks import check_integer, check_number
from instances.jobs.jobs_instance import JobsInstance

if TYPE_CHECKING:
    from instances.cluster import Cluster


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
    jobs
        Number of jobs.
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
        Name of the instance; the default tells family, number of jobs, load and seed.
    **parameters
        Parameters of the family.

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
    if family not in ALL_JOBS_FAMILIES:
        near = difflib.get_close_matches(family, ALL_JOBS_FAMILIES) or list(ALL_JOBS_FAMILIES)
        raise ValueError(f"family: expected one of {', '.join(near)}, got {family!r}.")
    entry = ALL_JOBS_FAMILIES[family]
    make, known = entry.load(), entry.parameters()
    for parameter in parameters:
        if parameter not in known:
            choices = f"a parameter of {family} ({', '.join(known)})"
            raise ValueError(f"parameters: expected {choices}, got {parameter!r}.")
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
