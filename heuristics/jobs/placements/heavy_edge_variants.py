"""Rules made of parts of Heavy-Edge: stage order, consolidated, and packing on the first servers of an order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.placements.hall import TOO_MANY, demand_of, list_unions
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.heavy_edge_kernel import STAGE_ORDER
from heuristics.jobs.placements.kernel_placer import NONE, UNIONS_EXCEEDED, checked_free, new_placement_workspace
from heuristics.jobs.placements.placement import JobPlacement
from heuristics.jobs.placements.waiting_queue import WaitingQueue
from instances.kernels import kernel

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from numpy.typing import NDArray

    from heuristics.jobs.placements.arrays import JobsArrays
    from heuristics.jobs.placements.cluster_state import ClusterState
    from heuristics.jobs.placements.kernel_placer import PlacementWorkspace
    from instances.jobs.co_location import Amount
    from instances.jobs.instance import JobsInstance


class StageOrder(HeavyEdge):
    """Heavy-Edge with the grouping by stage order alone: it considers kinds and servers but no traffic."""

    def __init__(self, instance: JobsInstance, phi: Fraction | int | None = None) -> None:
        super().__init__(instance, phi, groupings=STAGE_ORDER)


class Consolidated(StageOrder):
    """A rule of ours that only counts servers; all kinds that a stage may use are alike to it.

    It takes the servers with the most free GPUs, as few of them as
    hold the job, the last one by best fit, and fills them in order of stage.
    """

    def __init__(self, instance: JobsInstance, phi: Fraction | int | None = None) -> None:
        super().__init__(instance, phi)
        self._only_last = True


_MOST_KNOWN = 50_000
"""Largest number of placements that are kept, a few dozen megabytes."""


class Pack(HeavyEdge):
    """PACK(i, order): Heavy-Edge on the shortest prefix of an order of servers that passes Hall's test.

    All kinds that a stage may use count in the test. A reconstruction of ours: the published rules for elastic jobs
    put one worker at a time on the first server of their order; a rigid gang needs the first few. It costs one sort
    of the servers and one call of Heavy-Edge, which is saved if servers of the same kinds, bandwidths, racks and free
    GPUs were tried for the same job before. Subclasses define the order.
    """

    def __init__(self, instance: JobsInstance, phi: Fraction | int | None = None) -> None:
        super().__init__(instance, phi)
        self._within: NDArray[np.int64] = np.zeros(instance.num_servers, dtype=np.int64)
        self._type = _types(self.arrays)
        self._known: dict[tuple[int, bytes, bytes], tuple[JobPlacement, NDArray[np.int64]]] = {}

    def order(self, free: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return all servers in the order in which they are taken, shape (servers,), int64; `free` as in `Placer`."""
        raise NotImplementedError

    def place(self, job: int, free: NDArray[np.int64]) -> JobPlacement | None:
        """Return a placement of a job on free GPUs, or None if there is none; see `Placer`."""
        gpus = checked_free(self.arrays, free)
        order = self.order(gpus)
        size = _prefix(self.arrays, self.workspace, job, gpus, order)
        while size == UNIONS_EXCEEDED:
            self.workspace = new_placement_workspace(self.arrays, 2 * len(self.workspace.unions))
            size = _prefix(self.arrays, self.workspace, job, gpus, order)
        return None if size == NONE else self.place_within(job, gpus, order[:size])

    def place_within(self, job: int, free: NDArray[np.int64], servers: NDArray[np.int64]) -> JobPlacement | None:
        """Return the Heavy-Edge placement of a job on the free GPUs of some servers only."""
        # Heavy-Edge only looks at the type of a server, its free GPUs, and the order of the numbers: lists of servers
        # that agree in all this have the same placement, with other numbers.
        servers = np.sort(servers[free[servers] > 0])
        key = (job, self._type[servers].tobytes(), free[servers].tobytes())
        if key in self._known:
            like, positions = self._known[key]
            return JobPlacement(
                stage=like.stage, server=servers[positions], count=like.count, comp=like.comp, comm=like.comm
            )
        self._within[:] = 0
        self._within[servers] = free[servers]
        found = super().place(job, self._within)
        if found is not None:
            if len(self._known) == _MOST_KNOWN:
                self._known.clear()
            self._known[key] = found, np.searchsorted(servers, found.server)
        return found


def _types(arrays: JobsArrays) -> NDArray[np.int64]:
    """Return a number for each server; equal numbers mean equal kind, bandwidth and rack."""
    columns = [arrays.server_kind, arrays.nic_numerator, arrays.nic_denominator, *arrays.uplinks.T]
    if len(arrays.uplinks) == 0:
        columns = columns[:3]
    numbers: NDArray[np.int64] = np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1]
    return numbers.reshape(-1)


@kernel
def _prefix(
    arrays: JobsArrays, ws: PlacementWorkspace, job: int, free: NDArray[np.int64], order: NDArray[np.int64]
) -> int:
    """Return the length of the shortest prefix that passes Hall's test, `NONE` or `UNIONS_EXCEEDED`."""
    base, end = arrays.stage_offsets[job], arrays.stage_offsets[job + 1]
    masks, replicas = arrays.allowed_kinds[base:end], arrays.replicas[base:end]
    num_unions = list_unions(masks, ws.unions)
    if num_unions == TOO_MANY:
        return UNIONS_EXCEEDED
    for index in range(num_unions):
        ws.slack[index] = -demand_of(ws.unions[index], masks, replicas)
    for place in range(len(order)):
        gpus, kind = free[order[place]], arrays.server_kind[order[place]]
        if gpus == 0:
            continue
        passes = True
        for index in range(num_unions):
            if ws.unions[index] >> kind & 1:
                ws.slack[index] += gpus
            passes &= ws.slack[index] >= 0
        if passes:
            return place + 1
    return NONE


class FreeDescending(Pack):
    """PACK(free descending): servers by free GPUs, most first, then by number.

    Unlike Heavy-Edge it does not look at further servers to find a faster kind, nor does it choose the last server by
    best fit. A reconstruction of ours.
    """

    def order(self, free: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the servers by free GPUs; see `Pack`."""
        return np.argsort(-free, kind="stable")


class BestFit(FreeDescending):
    """The server with the smallest number of free GPUs that hosts the job; a job that no single one hosts is packed.

    Ties: lowest number. Packed as by `FreeDescending`. A reconstruction of ours.
    """

    def place(self, job: int, free: NDArray[np.int64]) -> JobPlacement | None:
        """Return a placement of a job on free GPUs, or None if there is none; see `Placer`."""
        gpus, arrays = checked_free(self.arrays, free), self.arrays
        kinds = np.bitwise_and.reduce(arrays.allowed_kinds[self.instance.stages_of(job)])
        hosts = np.flatnonzero((gpus >= arrays.gang_size[job]) & (kinds >> arrays.server_kind & 1 == 1))
        if len(hosts) == 0:
            return super().place(job, gpus)
        return self.place_within(job, gpus, hosts[[np.argmin(gpus[hosts])]])


class LoadBalance(Pack):
    """PACK(LOAD): servers by busy GPUs over all their GPUs, then by number.

    A GPU is busy if any job is on it; where two jobs may share GPUs, a busy one may still be free for a job. Without a
    cluster to watch, a GPU that is not free is busy. The order is exact for servers of fewer than 2^26 GPUs: there the
    nearest floats of two different shares differ. The rule for gangs is a reconstruction of ours, see `Pack`.

    References
    ----------
    Peng et al., github pengyanghua/DL2: workers go to the least-loaded server.
    """

    _cluster: ClusterState | None = None

    def watch(self, cluster: ClusterState) -> None:
        """Receive the cluster; see `Placer`."""
        self._cluster = cluster

    def order(self, free: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the servers by share of busy GPUs; see `Pack`."""
        idle = free if self._cluster is None else self._cluster.free
        total = self.arrays.num_gpus_of
        return np.argsort((total - idle) / total, kind="stable")


class LeastLoad(Pack):
    """PACK(least load): servers by sum_z load[v,z], the demand of running jobs for all resources, then by number.

    Sums are exact. Without interference there are no resources and all sums are 0: servers by number. Keeping the order
    costs a sorted insertion for every server whose jobs changed. Zhao and Wu (2022) publish no such rule; it is a
    reconstruction of ours.
    """

    def __init__(self, instance: JobsInstance, phi: Fraction | int | None = None) -> None:
        super().__init__(instance, phi)
        self._cluster: ClusterState | None = None
        self._version = -1
        self._servers = WaitingQueue()
        self._seen: list[tuple[Amount, ...]] = [()] * instance.num_servers
        for server in range(instance.num_servers):
            self._servers.insert((0, server), server)

    def watch(self, cluster: ClusterState) -> None:
        """Receive the cluster; see `Placer`."""
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
