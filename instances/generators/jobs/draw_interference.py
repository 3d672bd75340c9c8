"""Invented interference: what classes of jobs ask of a server, what they mind, and which may share a GPU."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.interference import DEFAULT_RESOURCES, FULL_SPEED, NOT_TOGETHER, Interference
from instances.jobs.racks import Racks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.jobs.jobs_server import JobsServer

LEAST_BESIDE = 50
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
    rng
        Source of everything.
    class_of
        Name of the class of each job.
    gpus_per_server
        Of the largest server.
    share
        Jobs per GPU, 1 or 2.
    strength
        Of the demand for cpu and pcie; 0 for none.
    """
    names = sorted(set(class_of))
    even = strength * FULL_SPEED / gpus_per_server
    use = np.rint(even * rng.uniform(0.5, 1.5, (len(names), 2))).astype(np.int64)
    sens = rng.integers(50, 401, (len(names), 2))
    busy, memory = rng.uniform(0.3, 1.0, len(names)), rng.uniform(0.1, 0.8, len(names))
    losses = rng.uniform(0.0, 0.1, (len(names), len(names)))
    speed = np.minimum(1.0, 1.0 / (busy[:, None] + busy)) * (1.0 - losses)
    pair = np.maximum(LEAST_BESIDE, np.rint(FULL_SPEED * speed).astype(np.int64))
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
