"""Heavy-Edge: replicas that exchange much data share a server, on servers as fast and as few as may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.placements.heavy_edge_kernel import CONTRACT, GROW, STAGE_ORDER, heavy_edge_kernel
from heuristics.jobs.placements.kernel_placer import KernelPlacer, checked_free, plain_placement
from heuristics.jobs.placements.plain_heavy_edge import plain_heavy_edge

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

    from heuristics.jobs.job_placement import JobPlacement
    from instances.jobs.jobs_instance import JobsInstance


class HeavyEdge(KernelPlacer):
    """The placement rule Heavy-Edge, complete and deterministic.

    For each threshold on the time of a replica, ascending, only kinds within it are allowed; the fewest servers with
    the most free GPUs are chosen, the last one by best fit; three groupings compete there, and the placement with the
    least iteration time is kept (ties: fewer servers, lower threshold, earlier grouping). All comparisons are exact.

    Parameters
    ----------
    instance
        What is scheduled.
    phi
        Kinds more than `phi` times slower than the fastest of a stage are left out, see `restricted_times`.
    groupings
        Sum of those that compete, of ``GROW``, ``CONTRACT`` and ``STAGE_ORDER``; all by default.

    Raises
    ------
    ValueError
        If `groupings` names none or others, or as `jobs_arrays`.

    References
    ----------
    The name: heavy-edge coarsening of graphs, Karypis and Kumar (1999). A-SRPT's own rule (Luo, Liu, Lee, Shroff,
    INFOCOM 2025) is not published in detail; this one is a reconstruction of ours.
    """

    def __init__(
        self,
        instance: JobsInstance,
        phi: Fraction | int | None = None,
        *,
        groupings: int = GROW | CONTRACT | STAGE_ORDER,
    ) -> None:
        """Make the arrays and the memory."""
        if not 0 < groupings <= GROW | CONTRACT | STAGE_ORDER:
            raise ValueError(f"groupings: expected a sum of some of 1, 2 and 4, got {groupings}.")
        super().__init__(instance, phi)
        self._groupings = groupings
        self._only_last = False

    def place(self, job: int, free: NDArray[np.int64]) -> JobPlacement | None:
        """Return a placement of a job on free GPUs, or None if there is none; see `Placer`."""
        gpus, groupings = checked_free(self.arrays, free), self._groupings
        if self.arrays.denominator[job] == 0:
            times = self.arrays.time_of[self.instance.stages_of(job)].tolist()
            found = plain_heavy_edge(self.instance, times, job, gpus.tolist(), groupings, only_last=self._only_last)
            return None if found is None else plain_placement(*found)
        return self.run(
            job, lambda: heavy_edge_kernel(self.arrays, self.workspace, job, gpus, groupings, self._only_last)
        )
