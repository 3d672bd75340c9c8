"""Whether jobs have a placement at all, for many jobs at once: Hall's test on the free GPUs of each kind (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from heuristics.jobs.jobs_arrays import jobs_arrays
from heuristics.jobs.placements.hall import TOO_MANY, demand_of, gpus_of_kind, list_unions, supply_of
from heuristics.jobs.placements.kernel_placer import checked_free
from heuristics.jobs.placements.workspace import new_workspace

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from heuristics.jobs.jobs_arrays import JobsArrays
    from heuristics.jobs.placements.workspace import Workspace
    from instances.jobs.jobs_instance import JobsInstance

_NONE = -1
_UNIONS_EXCEEDED = -2


class FitTest:
    """Says which jobs have a placement on the free GPUs; every `Placer` finds one if and only if this says so.

    A policy with a long queue asks here first: the test looks at free GPUs per kind only. Parameters as in `HeavyEdge`.
    """

    def __init__(self, instance: JobsInstance, phi: Fraction | int | None = None) -> None:
        """Make the arrays and the memory."""
        self.arrays = jobs_arrays(instance, phi)
        self.workspace = new_workspace(self.arrays)

    def fits(self, job: int, free: NDArray[np.int64]) -> bool:
        """Say whether a job has a placement; `free` as in `Placer`."""
        return self.first(np.array([job], dtype=np.int64), free) is not None

    def first(self, jobs: NDArray[np.int64], free: NDArray[np.int64], begin: int = 0) -> int | None:
        """Return the position of the first of these jobs, from position `begin` on, that has a placement.

        Parameters
        ----------
        jobs
            Jobs in any order, shape (any,), int64.
        free
            Free GPUs of each server, shape (servers,), int64.
        begin
            Where to begin.
        """
        jobs, free = np.array(jobs, dtype=np.int64), checked_free(self.arrays, free)
        found = _first_that_fits(self.arrays, self.workspace, jobs, begin, free)
        while found == _UNIONS_EXCEEDED:
            self.workspace = new_workspace(self.arrays, 2 * len(self.workspace.unions))
            found = _first_that_fits(self.arrays, self.workspace, jobs, begin, free)
        return None if found == _NONE else int(found)


@njit(cache=True)
def _first_that_fits(
    arrays: JobsArrays, ws: Workspace, jobs: NDArray[np.int64], begin: int, free: NDArray[np.int64]
) -> int:
    """Return the position, `_NONE` or `_UNIONS_EXCEEDED`."""
    gpus_of_kind(free, arrays.server_kind, ws.free_of_kind)
    total = ws.free_of_kind.sum()
    for position in range(begin, len(jobs)):
        job = jobs[position]
        if arrays.gang_size[job] > total:
            continue
        base, end = arrays.stage_offsets[job], arrays.stage_offsets[job + 1]
        masks, replicas = arrays.allowed_kinds[base:end], arrays.replicas[base:end]
        num_unions = list_unions(masks, ws.unions)
        if num_unions == TOO_MANY:
            return _UNIONS_EXCEEDED
        fits = True
        for index in range(num_unions):
            union = ws.unions[index]
            fits &= supply_of(union, ws.free_of_kind) >= demand_of(union, masks, replicas)
        if fits:
            return position
    return _NONE
