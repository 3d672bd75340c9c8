"""Random placement: replicas in random order on random GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.placements.hall import (
    TOO_MANY,
    book,
    can_place,
    count_free_of_kind,
    demand_of,
    list_unions,
    supply_of,
)
from heuristics.jobs.placements.kernel_placer import NONE, UNIONS_EXCEEDED, KernelPlacer, checked_free, gather
from instances.kernels import kernel, overwrite

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

    from heuristics.jobs.placements.arrays import JobsArrays
    from heuristics.jobs.placements.kernel_placer import PlacementWorkspace
    from heuristics.jobs.placements.placement import JobPlacement
    from instances.jobs.instance import JobsInstance


class RandomPlacement(KernelPlacer):
    """A placement at random, complete: ours, to show what a rule gains.

    The replicas are placed in a random order, each on a GPU drawn from all free ones that it may use and that leave the
    remaining replicas a placement.

    Parameters
    ----------
    instance, phi
        As in `HeavyEdge`.
    rng
        Source of all random numbers: two for every replica that is placed, in the order of calls.
    """

    def __init__(self, instance: JobsInstance, rng: np.random.Generator, phi: Fraction | int | None = None) -> None:
        super().__init__(instance, phi)
        self._rng = rng

    def place(self, job: int, free: NDArray[np.int64]) -> JobPlacement | None:
        """Return a placement of a job on free GPUs, or None if there is none; see `Placer`."""
        numbers = self._rng.random(2 * int(self.arrays.gang_size[job]))
        gpus = checked_free(self.arrays, free)
        return self.run(job, lambda: _kernel(self.arrays, self.workspace, job, gpus, numbers))


@kernel
def _kernel(
    arrays: JobsArrays, ws: PlacementWorkspace, job: int, free: NDArray[np.int64], numbers: NDArray[np.float64]
) -> tuple[int, int, int, int]:
    """Place a job; `numbers` are two from [0, 1) per replica."""
    base, end = arrays.stage_offsets[job], arrays.stage_offsets[job + 1]
    num_stages, num_servers = end - base, len(free)
    masks, left, replicas = ws.masks[:num_stages], ws.left[:num_stages], arrays.replicas[base:end]
    overwrite(masks, arrays.allowed_kinds[base:end])
    overwrite(left, replicas)
    num_unions = list_unions(masks, ws.unions)
    if num_unions == TOO_MANY:
        return UNIONS_EXCEEDED, 0, 0, 1
    count_free_of_kind(free, arrays.server_kind, ws.free_of_kind)
    unions, slack = ws.unions[:num_unions], ws.slack[:num_unions]
    for index in range(num_unions):
        slack[index] = supply_of(unions[index], ws.free_of_kind) - demand_of(unions[index], masks, left)
        if slack[index] < 0:
            return NONE, 0, 0, 1
    overwrite(ws.free_gpus, free)
    ws.counts[:num_stages] = 0
    is_open, gang = ws.most_of_kind, arrays.gang_size[job]
    for index in range(gang):
        stage, passed = 0, int(numbers[2 * index] * (gang - index))
        while passed >= left[stage]:
            passed -= left[stage]
            stage += 1
        total = 0
        for kind in range(len(is_open)):
            is_open[kind] = masks[stage] >> kind & 1
            if is_open[kind] and not can_place(unions, slack, masks[stage], -1, kind):
                is_open[kind] = 0
            total += ws.free_of_kind[kind] if is_open[kind] else 0
        server, passed = 0, int(numbers[2 * index + 1] * total)
        while not is_open[arrays.server_kind[server]] or passed >= ws.free_gpus[server]:
            passed -= ws.free_gpus[server] if is_open[arrays.server_kind[server]] else 0
            server += 1
        kind = arrays.server_kind[server]
        book(unions, slack, masks[stage], kind, 1)
        ws.counts[stage, server] += 1
        ws.free_gpus[server] -= 1
        ws.free_of_kind[kind] -= 1
        left[stage] -= 1
    return gather(arrays, ws, job, num_servers)
