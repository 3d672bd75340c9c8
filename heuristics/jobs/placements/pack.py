"""Packing: Heavy-Edge on the first servers of some order, as many as the job needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from heuristics.jobs.job_placement import JobPlacement
from heuristics.jobs.placements.hall import TOO_MANY, demand_of, list_unions
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.kernel_placer import checked_free
from heuristics.jobs.placements.workspace import new_workspace
from heuristics.jobs.placements.write_entries import NONE, UNIONS_EXCEEDED

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from heuristics.jobs.jobs_arrays import JobsArrays
    from heuristics.jobs.placements.workspace import Workspace
    from instances.jobs.jobs_instance import JobsInstance


_MOST_KNOWN = 50_000
"""Placements that are kept at most: some dozen megabytes."""


class Pack(HeavyEdge):
    """PACK(i, order): Heavy-Edge on the shortest prefix of an order of servers that passes Hall's test.

    All kinds that a stage may use count in the test. A reconstruction of ours: the published rules for elastic jobs
    put one worker at a time on the first server of their order; a rigid gang needs the first few. It costs one sort
    of the servers and one call of Heavy-Edge, which is spared where servers of the same kinds, bandwidths, racks and
    free GPUs were asked for the same job before. Parameters as in `HeavyEdge`; a rule says the order.
    """

    def __init__(self, instance: JobsInstance, phi: Fraction | int | None = None) -> None:
        """Make the arrays and the memory."""
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
            self.workspace = new_workspace(self.arrays, 2 * len(self.workspace.unions))
            size = _prefix(self.arrays, self.workspace, job, gpus, order)
        return None if size == NONE else self.place_within(job, gpus, order[:size])

    def place_within(self, job: int, free: NDArray[np.int64], servers: NDArray[np.int64]) -> JobPlacement | None:
        """Return the Heavy-Edge placement of a job on the free GPUs of some servers only."""
        # Heavy-Edge sees of a server its type, its free GPUs, and whether its number is above another's: servers that
        # agree in all this have the same placement, with other numbers.
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


@njit(cache=True)
def _prefix(arrays: JobsArrays, ws: Workspace, job: int, free: NDArray[np.int64], order: NDArray[np.int64]) -> int:
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
