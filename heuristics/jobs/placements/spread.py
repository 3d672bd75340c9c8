"""Spread: the replicas dealt to all servers like cards, a yardstick for what a job loses without care."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import njit

from heuristics.jobs.placements.gather import gather
from heuristics.jobs.placements.kernel_placer import KernelPlacer
from heuristics.jobs.placements.write_entries import NONE

if TYPE_CHECKING:
    from heuristics.jobs.job_placement import JobPlacement
    from heuristics.jobs.jobs_arrays import JobsArrays
    from heuristics.jobs.placements.workspace import Workspace


class Spread(KernelPlacer):
    """The spread placement of a job on the empty servers: a reconstruction of ours, for `is_heavy` only.

    Replicas in order of stage go to the servers in order of index, cyclically, each to the next one after the last used
    that has room and a kind its stage may use. No `Placer`: it may get stuck. Parameters as in `HeavyEdge`.
    """

    def place(self, job: int) -> JobPlacement | None:
        """Return the spread placement of a job, or None if a replica finds no server."""
        return self.run(job, lambda: _kernel(self.arrays, self.workspace, job))


@njit(cache=True)
def _kernel(arrays: JobsArrays, ws: Workspace, job: int) -> tuple[int, int, int, int]:
    """Deal the replicas."""
    base, end = arrays.stage_offsets[job], arrays.stage_offsets[job + 1]
    num_servers = len(arrays.server_kind)
    ws.room[:] = arrays.num_gpus_of
    ws.counts[: end - base] = 0
    server = -1
    for s in range(end - base):
        for _ in range(arrays.replicas[base + s]):
            skipped = 0
            server = (server + 1) % num_servers
            while ws.room[server] == 0 or arrays.time_of[base + s, arrays.server_kind[server]] < 0:
                skipped += 1
                if skipped == num_servers:
                    return NONE, 0, 0, 1
                server = (server + 1) % num_servers
            ws.counts[s, server] += 1
            ws.room[server] -= 1
    return gather(arrays, ws, job, num_servers)
