"""Best fit: the fullest server that still holds the whole job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.placements.free_descending import FreeDescending
from heuristics.jobs.placements.kernel_placer import checked_free

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.job_placement import JobPlacement


class BestFit(FreeDescending):
    """The server with the smallest number of free GPUs that hosts the job; a job that no single one hosts is packed.

    Ties: lowest number. Packed as by `FreeDescending`. A reconstruction of ours; parameters as in `HeavyEdge`.
    """

    def place(self, job: int, free: NDArray[np.int64]) -> JobPlacement | None:
        """Return a placement of a job on free GPUs, or None if there is none; see `Placer`."""
        gpus, arrays = checked_free(self.arrays, free), self.arrays
        kinds = np.bitwise_and.reduce(arrays.allowed_kinds[self.instance.stages_of(job)])
        hosts = np.flatnonzero((gpus >= arrays.gang_size[job]) & (kinds >> arrays.server_kind & 1 == 1))
        if len(hosts) == 0:
            return super().place(job, gpus)
        return self.place_within(job, gpus, hosts[[np.argmin(gpus[hosts])]])
