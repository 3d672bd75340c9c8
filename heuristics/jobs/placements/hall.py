"""Hall's test: whether the replicas that are left fit on the free GPUs, for one job (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.kernels import inner_kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
