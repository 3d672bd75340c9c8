"""Least load: the servers first of whose resources the running jobs ask least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.placements.pack import Pack
from heuristics.jobs.waiting_queue import WaitingQueue

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

    from heuristics.jobs.cluster_state import ClusterState
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.resource_demand import Amount


class LeastLoad(Pack):
    """PACK(least load): servers by sum_z load[v,z], what running jobs ask there of all resources, then by number.

    Sums are exact. Without interference there are no resources and all sums are 0: servers by number. Keeping the order
    costs O(servers) per event, and a sorted insertion for every server whose jobs changed. Zhao and Wu (2022) publish
    no such rule; a reconstruction of ours. Parameters as in `HeavyEdge`.
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
        if self._cluster is not None and self._version != self._cluster.version:
            self._version, running = self._cluster.version, self._cluster.running
            for server, before in enumerate(self._seen):
                load = running.load(server)
                if load is before:
                    continue
                self._servers.remove(self._servers.position((sum(before), server)))
                self._servers.insert((sum(load), server), server)
                self._seen[server] = load
        return self._servers.jobs[: len(self._servers)]
