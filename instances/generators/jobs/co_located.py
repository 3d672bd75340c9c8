"""Training jobs that slow each other down on shared servers and GPUs, with invented interference and racks."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from instances.generators.jobs.independent import TrainingMix, poisson
from instances.jobs.interference import DEFAULT_RESOURCES, FULL_SPEED, NOT_TOGETHER, Interference
from instances.jobs.servers import Racks, jobs_servers
from instances.parameters import check_integer, check_number, fields_as_parameters, set_checked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.clusters.cluster import Cluster
    from instances.generators.jobs.generate import JobStream
    from instances.jobs.instance import JobsInstance
    from instances.jobs.interference import PairTable
    from instances.jobs.servers import JobsServer


LEAST_SHARED_SPEED = 50
"""Least speed of a pair that may share a GPU, in per mille."""


def draw_interference(
    rng: np.random.Generator, class_of: Sequence[str], *, gpus_per_server: int, share: int, strength: float
) -> Interference:
    """Draw the interference of jobs by class; all of it a model of ours.

    A class asks per replica for 0.5 to 1.5 times its even share of cpu and pcie, 1000 / `gpus_per_server` per mille,
    times `strength`; between 5 and 40 % of its iterations are bound by each of the two. It keeps a GPU busy for a part
    b of the time, 0.3 to 1, and takes a part of its memory, 0.1 to 0.8. Two classes may share a GPU if their memory
    fits; then each runs at min(1, 1 / (b + b')) of its speed, less up to 10 %.

    Parameters
    ----------
    class_of
        Name of the class of each job.
    gpus_per_server
        GPUs of the largest server.
    share
        Jobs per GPU, 1 or 2.
    strength
        Strength of the demand for cpu and pcie; 0 for none.
    """
    names = sorted(set(class_of))
    even = strength * FULL_SPEED / gpus_per_server
    use = np.rint(even * rng.uniform(0.5, 1.5, (len(names), 2))).astype(np.int64)
    sens = rng.integers(50, 401, (len(names), 2))
    busy, memory = rng.uniform(0.3, 1.0, len(names)), rng.uniform(0.1, 0.8, len(names))
    losses = rng.uniform(0.0, 0.1, (len(names), len(names)))
    speed = np.minimum(1.0, 1.0 / (busy[:, None] + busy)) * (1.0 - losses)
    pair = np.maximum(LEAST_SHARED_SPEED, np.rint(FULL_SPEED * speed).astype(np.int64))
    pair[memory[:, None] + memory > 1.0] = NOT_TOGETHER
    job_class = np.array([names.index(name) for name in class_of], dtype=np.int64)
    none = np.zeros((len(names), 1), dtype=np.int64)  # the nic follows from the placement
    return Interference(
        resources=DEFAULT_RESOURCES,
        use=np.hstack([use, none])[job_class],
        sens=np.hstack([sens, none])[job_class],
        share=share,
        classes=tuple(names),
        job_class=job_class,
        pair=pair,
    )


def draw_racks(servers: Sequence[JobsServer], servers_per_rack: int, oversubscription: float) -> Racks | None:
    """Return racks of neighbouring servers, None for 0 servers per rack; nothing is random.

    An uplink has the bandwidth of the network interfaces in its rack together, over `oversubscription`.
    """
    if servers_per_rack == 0:
        return None
    rack_of = np.arange(len(servers)) // servers_per_rack
    share = Fraction(repr(oversubscription))
    uplinks = [
        sum((Fraction(server.nic_bytes_per_tick) for server in servers[first : first + servers_per_rack]), Fraction(0))
        / share
        for first in range(0, len(servers), servers_per_rack)
    ]
    return Racks.of(rack_of, uplinks)


@dataclass(frozen=True, slots=True, kw_only=True)
class RackLayout:
    """How many neighbouring servers stand in a rack, and how narrow its uplink is; see `draw_racks`.

    Parameters
    ----------
    servers_per_rack
        Servers behind one uplink; 0 for no racks.
    oversubscription
        Bandwidth of the network interfaces in a rack over that of its uplink.
    """

    servers_per_rack: int = 0
    oversubscription: float = 4.0

    def __post_init__(self) -> None:
        """Check the ranges."""
        set_checked(
            self,
            servers_per_rack=check_integer("servers_per_rack", self.servers_per_rack, low=0),
            oversubscription=check_number("oversubscription", self.oversubscription, low=1e-3, high=1e6),
        )


def interfering(
    rng: np.random.Generator,
    servers: Sequence[JobsServer],
    stream: JobStream,
    class_of: Sequence[str],
    *,
    share: int,
    strength: float,
    layout: RackLayout,
) -> JobStream:
    """Return a stream with interference and racks, given the name of the class of each job."""
    interference = draw_interference(
        rng,
        class_of,
        gpus_per_server=max(server.gpus for server in servers),
        share=check_integer("share", share, low=1, high=2),
        strength=check_number("strength", strength, low=0.0, high=1e3),
    )
    racks = draw_racks(servers, layout.servers_per_rack, layout.oversubscription)
    return dataclasses.replace(stream, interference=interference, racks=racks)


@fields_as_parameters
def co_located(
    rng: np.random.Generator,
    cluster: Cluster,
    tick_seconds: float,
    *,
    jobs: int,
    share: int = 1,
    strength: float = 1.0,
    layout: RackLayout = RackLayout(servers_per_rack=2),
    mix: TrainingMix = TrainingMix(),
) -> JobStream:
    """Make the jobs of `poisson` with interference by network and racks.

    Parameters
    ----------
    share
        Jobs per GPU, 1 or 2.
    strength
        Strength of the demand for cpu and pcie, see `draw_interference`; at 1 a full server asks for about what it has.
    """
    stream, servers = poisson(rng, cluster, tick_seconds, jobs=jobs, mix=mix), jobs_servers(cluster, tick_seconds)
    networks = [str(job.model_tag) for job in stream.jobs]
    return interfering(rng, servers, stream, networks, share=share, strength=strength, layout=layout)


@fields_as_parameters
def shared_gpus(
    rng: np.random.Generator,
    cluster: Cluster,
    tick_seconds: float,
    *,
    jobs: int,
    strength: float = 1.0,
    layout: RackLayout = RackLayout(),
    mix: TrainingMix = TrainingMix(),
) -> JobStream:
    """Make the jobs of `co_located` with two jobs per GPU and, unless asked for, without racks."""
    return co_located(rng, cluster, tick_seconds, jobs=jobs, share=2, strength=strength, layout=layout, mix=mix)


def share_gpus(instance: JobsInstance, pairs: PairTable, *, seed: int) -> JobsInstance:
    """Return the instance with two jobs per GPU and the speeds of a table.

    Jobs of one model tag are of one class, drawn uniformly from the table; which class stands for which model is a
    model of ours. Resources, use and sensitivities stay as they are. The seed of the classes is at least 0.
    """
    rng = np.random.default_rng(check_integer("seed", seed, low=0))
    tags = sorted(set(instance.model_tag), key=str)
    class_of = dict(zip(tags, rng.integers(0, len(pairs.classes), len(tags)).tolist(), strict=True))
    known, nothing = instance.interference, np.zeros((instance.num_jobs, 0), dtype=np.int64)
    interference = pairs.interference(
        np.array([class_of[tag] for tag in instance.model_tag], dtype=np.int64),
        nothing if known is None else known.use,
        nothing if known is None else known.sens,
        () if known is None else known.resources,
    )
    return dataclasses.replace(instance, interference=interference)
