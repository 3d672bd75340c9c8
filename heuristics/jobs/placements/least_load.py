"""Least load: the servers first of whose resources the running jobs ask least."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.placements.pack import Pack
from heuristics.jobs.waiting_queue import WaitingQueue

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from numpy.typing import NDArray

    from heuristics.jobs.cluster_state import ClusterState
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.resource_demand import Amount


class LeastLoad(Pack):
    """PACK(least load): servers by sum_z load[v,z], what running jobs ask there of all resources, then by number.

    Sums are exact. Without interference there are no resources and all sums are 0: servers by number. Keeping the order
    costs a sorted insertion for every server whose jobs changed. Zhao and Wu (2022) publish no such rule; a
    reconstruction of ours. Parameters as in `HeavyEdge`.
    """

    def __init__(self, instance: JobsInstance, phi: Fraction | int | None = None) -> None:
        """Begin with servers without any job."""
        super().__init__(instance, phi)
        self._cluster: ClusterState | None = None
        self._version = -1
        self._servers = WaitingQueue()
        self._seen: list[tuple[Amount, ...]] = [()] * instance.num_servers
        for server in range(instance.num_servers):
            self._servers.insert((0, server), server)

    def watch(self, cluster: ClusterState) -> None:
        """Take the cluster; see `Placer`."""
        self._cluster, self._version = cluster, -1

    def order(self, free: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the servers by load; see `Pack`."""
        cluster = self._cluster
        if cluster is not None and self._version != cluster.version:
            running = cluster.running
            changed: Iterable[int] = range(len(self._seen))
            if self._version >= 0:
                changed = set(np.concatenate(cluster.changes[self._version :]).tolist())
            self._version = cluster.version
            for server in changed:
                load, before = running.load(server), self._seen[server]
                if load is before:
                    continue
                self._servers.remove(self._servers.position((sum(before), server)))
                self._servers.insert((sum(load), server), server)
                self._seen[server] = load
        return self._servers.jobs[: len(self._servers)]
