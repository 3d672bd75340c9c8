"""Servers of a cluster as the jobs problem knows them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from instances.jobs.jobs_server import JobsServer

if TYPE_CHECKING:
    from instances.cluster import Cluster


def jobs_servers(cluster: Cluster, tick_seconds: float) -> list[JobsServer]:
    """Return the servers with the bandwidth of their network interfaces in bytes per tick, exactly.

    Links inside a server do not count: traffic there is part of the times of stages.

    Parameters
    ----------
    cluster
        Servers of one kind of GPU each.
    tick_seconds
        Length of a tick in seconds; taken as the decimal number that it is written as.

    Raises
    ------
    ValueError
        If a server has GPUs of several kinds.
    """
    servers = []
    for server in cluster.servers:
        kinds = list(dict.fromkeys(kind.name for kind in server.kinds))
        if len(kinds) > 1:
            raise ValueError(
                f"cluster: expected one kind of GPU per server, got {' and '.join(kinds)} on {server.name}."
            )
        bandwidth = Fraction(repr(float(server.nic_bandwidth))) * Fraction(repr(float(tick_seconds)))
        servers.append(
            JobsServer(kind=kinds[0], gpus=len(server.kinds), nic_bytes_per_tick=bandwidth, name=server.name)
        )
    return servers
