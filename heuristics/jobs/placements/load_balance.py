"""Load balance: the servers with the smallest share of busy GPUs first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.placements.pack import Pack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.cluster_state import ClusterState


class LoadBalance(Pack):
    """PACK(LOAD): servers by busy GPUs over all their GPUs, then by number.

    A GPU is busy if any job is on it; where two jobs may share GPUs, a busy one may still be free for a job. Without a
    cluster to watch, a GPU that is not free is busy. The order is exact for servers of fewer than 2^26 GPUs: there the
    nearest floats of two different shares differ. Gang rule: a reconstruction of ours, see `Pack`; parameters as in
    `HeavyEdge`.

    References
    ----------
    Peng et al., github pengyanghua/DL2: workers go to the least-loaded server.
    """

    _cluster: ClusterState | None = None

    def watch(self, cluster: ClusterState) -> None:
        """Take the cluster; see `Placer`."""
        self._cluster = cluster

    def order(self, free: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the servers by share of busy GPUs; see `Pack`."""
        idle = free if self._cluster is None else self._cluster.free
        total = self.arrays.num_gpus_of
        return np.argsort((total - idle) / total, kind="stable")
