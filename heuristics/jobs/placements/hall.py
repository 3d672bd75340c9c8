"""Hall's test: whether the replicas that are left fit on the free GPUs, for one job or a queue (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.placements.arrays import jobs_arrays
from heuristics.jobs.placements.kernel_placer import checked_free, new_placement_workspace
from instances.kernels import inner_kernel, kernel

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from heuristics.jobs.placements.arrays import JobsArrays
    from heuristics.jobs.placements.kernel_placer import PlacementWorkspace
    from instances.jobs.instance import JobsInstance


TOO_MANY = -1
"""The list of unions is too short."""


@inner_kernel
def list_unions(masks: NDArray[np.int64], unions: NDArray[np.int64]) -> int:
    """Write all different unions of the sets and return their number, or `TOO_MANY` if the list is too short."""
    size = 0
    for mask in masks:
        if _holds(unions, size, mask):  # and all unions with it: the list is closed under union
            continue
        before = size
        if size == len(unions):
            return TOO_MANY
        unions[size] = mask
        size += 1
        for index in range(before):
            union = unions[index] | mask
            if _holds(unions, size, union):
                continue
            if size == len(unions):
                return TOO_MANY
            unions[size] = union
            size += 1
    return size


@inner_kernel
def _holds(unions: NDArray[np.int64], size: int, mask: int) -> bool:
    """Say whether a set is among the first ones listed."""
    for index in range(size):  # noqa: SIM110 (Numba compiles no generators)
        if unions[index] == mask:
            return True
    return False


@inner_kernel
def count_free_of_kind(
    free: NDArray[np.int64], server_kind: NDArray[np.int64], free_of_kind: NDArray[np.int64]
) -> None:
    """Write the free GPUs of each kind."""
    free_of_kind[:] = 0
    for server in range(len(free)):
        free_of_kind[server_kind[server]] += free[server]


@inner_kernel
def demand_of(union: int, masks: NDArray[np.int64], left: NDArray[np.int64]) -> int:
    """Return the number of replicas left of stages that may use kinds of this union only."""
    total = 0
    for stage in range(len(masks)):
        if masks[stage] & ~union == 0:
            total += left[stage]
    return total


@inner_kernel
def supply_of(union: int, gpus_of_kind: NDArray[np.int64]) -> int:
    """Return the number of GPUs of kinds of this union."""
    total = 0
    for kind in range(len(gpus_of_kind)):
        if union >> kind & 1:
            total += gpus_of_kind[kind]
    return total


@inner_kernel
def can_place(unions: NDArray[np.int64], slack: NDArray[np.int64], first: int, second: int, kind: int) -> bool:
    """Say whether the rest can still be placed after one replica of each of two stages goes to GPUs of a kind.

    `first` and `second` are the masks of their stages, and hold the kind; `second` is -1 where there is none.
    """
    for index in range(len(unions)):
        union = unions[index]
        if union >> kind & 1:
            needed = (1 if first & ~union else 0) + (1 if second != -1 and second & ~union else 0)
            if slack[index] < needed:
                return False
    return True


@inner_kernel
def can_place_part(
    unions: NDArray[np.int64], slack: NDArray[np.int64], masks: NDArray[np.int64], part: NDArray[np.int64], kind: int
) -> bool:
    """Say the same of ``part[s]`` replicas of each stage s."""
    for index in range(len(unions)):
        union = unions[index]
        if union >> kind & 1:
            needed = 0
            for stage in range(len(masks)):
                if masks[stage] & ~union:
                    needed += part[stage]
            if slack[index] < needed:
                return False
    return True


@inner_kernel
def book(unions: NDArray[np.int64], slack: NDArray[np.int64], mask: int, kind: int, count: int) -> None:
    """Lower the slacks for replicas of a stage that go to GPUs of a kind."""
    for index in range(len(unions)):
        if unions[index] >> kind & 1 and mask & ~unions[index]:
            slack[index] -= count


_NONE = -1
_UNIONS_EXCEEDED = -2


class QueueFit:
    """Says which jobs have a placement on the free GPUs; every `Placer` finds one if and only if this says so.

    A policy with a long queue asks here first: the test looks at free GPUs per kind only. Parameters as in `HeavyEdge`.
    """

    def __init__(self, instance: JobsInstance, phi: Fraction | int | None = None) -> None:
        self.arrays = jobs_arrays(instance, phi)
        self.workspace = new_placement_workspace(self.arrays)

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
        """
        jobs, free = np.array(jobs, dtype=np.int64), checked_free(self.arrays, free)
        found = _first_that_fits(self.arrays, self.workspace, jobs, begin, free)
        while found == _UNIONS_EXCEEDED:
            self.workspace = new_placement_workspace(self.arrays, 2 * len(self.workspace.unions))
            found = _first_that_fits(self.arrays, self.workspace, jobs, begin, free)
        return None if found == _NONE else int(found)


@kernel
def _first_that_fits(
    arrays: JobsArrays, ws: PlacementWorkspace, jobs: NDArray[np.int64], begin: int, free: NDArray[np.int64]
) -> int:
    """Return the position, `_NONE` or `_UNIONS_EXCEEDED`."""
    count_free_of_kind(free, arrays.server_kind, ws.free_of_kind)
    total = 0
    for kind in range(len(ws.free_of_kind)):
        total += ws.free_of_kind[kind]
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
