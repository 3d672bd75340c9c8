"""Which kinds of demand the free GPUs meet: Hall's test once for all jobs that ask the same (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class FitClasses:
    """Classes of jobs that have a placement at the same times, and which of them have one now.

    A class is a set of pairs (set of kinds, replicas that may use no other kind): by Hall's theorem its jobs have a
    placement if and only if every set has at least so many free GPUs. So a long queue costs a few comparisons. Jobs
    that see other GPUs free are of other classes: each class belongs to a pool.

    Parameters
    ----------
    server_kind
        Kind of each server, shape (servers,).
    num_kinds
        Number of kinds.
    num_pools
        Number of pools.

    Attributes
    ----------
    has_place
        Whether each class has a placement, shape (classes,), bool; as of the last `refresh`.
    most_free
        Largest number of GPUs that are free in some pool on one server of each kind, shape (kinds,); as of the last
        `refresh`.
    """

    def __init__(self, server_kind: NDArray[np.int64], num_kinds: int, num_pools: int = 1) -> None:
        """Start without classes."""
        self._server_kind = server_kind
        self._num_pools = num_pools
        self._numbers: dict[tuple[int, frozenset[tuple[int, int]]], int] = {}
        self._pool_of = np.zeros(0, dtype=np.int64)
        self._offsets = np.zeros(1, dtype=np.int64)
        self._union_of = self._demand = self._masks = np.zeros(0, dtype=np.int64)
        self.most_free: NDArray[np.int64] = np.zeros(num_kinds, dtype=np.int64)
        self._free_of_kind = np.zeros(num_kinds, dtype=np.int64)
        self.has_place: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)

    def add(self, masks: Sequence[int], replicas: Sequence[int], pool: int = 0) -> int:
        """Return the class of a job.

        Parameters
        ----------
        masks
            Kinds that each stage may use, as bits; a stage without any has no placement ever.
        replicas
            Replicas of each stage.
        pool
            What it sees.
        """
        unions = {0}
        for mask in set(masks):
            unions |= {union | mask for union in unions}
        demands = {}
        for union in unions:
            inside = sum(k for mask, k in zip(masks, replicas, strict=True) if mask & ~union == 0)
            if inside:
                demands[union] = inside
        return self._numbers.setdefault((pool, frozenset(demands.items())), len(self._numbers))

    def finish(self) -> None:
        """Make the arrays after all classes are added."""
        rows = [sorted(demands) for _, demands in self._numbers]
        self._pool_of = np.array([pool for pool, _ in self._numbers], dtype=np.int64)
        entries = [entry for row in rows for entry in row]
        unions = {union: index for index, union in enumerate(sorted({union for union, _ in entries}))}
        self._masks = np.array(list(unions), dtype=np.int64)
        self._offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        self._union_of = np.array([unions[union] for union, _ in entries], dtype=np.int64)
        self._demand = np.array([demand for _, demand in entries], dtype=np.int64)
        self.has_place = np.zeros(len(rows), dtype=np.bool_)

    def refresh(self, free: NDArray[np.int64]) -> None:
        """Recompute for other free GPUs, shape (pools, servers); (servers,) will do for one pool."""
        _refresh(
            free.reshape(self._num_pools, -1),
            self._server_kind,
            self._pool_of,
            self._masks,
            self._offsets,
            self._union_of,
            self._demand,
            self._free_of_kind,
            self.most_free,
            self.has_place,
        )


@njit(cache=True)
def _refresh(
    free: NDArray[np.int64],
    server_kind: NDArray[np.int64],
    pool_of: NDArray[np.int64],
    masks: NDArray[np.int64],
    offsets: NDArray[np.int64],
    union_of: NDArray[np.int64],
    demand: NDArray[np.int64],
    free_of_kind: NDArray[np.int64],
    most_free: NDArray[np.int64],
    has_place: NDArray[np.bool_],
) -> None:
    """Count free GPUs by kind and by set of kinds, and compare."""
    most_free[:] = 0
    supply = np.zeros((len(free), len(masks)), dtype=np.int64)
    for pool in range(len(free)):
        free_of_kind[:] = 0
        for server in range(free.shape[1]):
            kind = server_kind[server]
            free_of_kind[kind] += free[pool, server]
            most_free[kind] = max(most_free[kind], free[pool, server])
        for union in range(len(masks)):
            for kind in range(len(free_of_kind)):
                if masks[union] >> kind & 1:
                    supply[pool, union] += free_of_kind[kind]
    for number in range(len(has_place)):
        fits = True
        for entry in range(offsets[number], offsets[number + 1]):
            fits &= demand[entry] <= supply[pool_of[number], union_of[entry]]
        has_place[number] = fits
