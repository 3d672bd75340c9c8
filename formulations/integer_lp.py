"""Linear programs in integers, and lower bounds from multipliers that are proved in exact integer arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csc_matrix


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Domain:
    """Columns of which some are steps, one step per group, and the others lie in boxes.

    The first columns stand in chains, the chains in groups. In every group exactly one chain steps from 0 to 1, at one
    of its columns: 0 before it, 1 from there to the end of the chain; all other chains of the group are 0. The set is
    the convex hull of these choices. (If all chains have one column, the columns of a group sum to 1.) The columns
    after the last chain lie between finite bounds.

    Parameters
    ----------
    chain_starts
        First column of every chain, and the number of columns in chains at the end, shape (chains + 1,), increasing.
    group_starts
        First chain of every group, and the number of chains at the end, shape (groups + 1,), increasing: no group is
        empty.
    lower, upper
        Bounds of the columns after the chains, integers, shape (boxes,).
    """

    chain_starts: NDArray[np.int64]
    group_starts: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]

    @property
    def num_steps(self) -> int:
        """Number of columns in chains."""
        return int(self.chain_starts[-1])

    @property
    def num_columns(self) -> int:
        """Number of all columns."""
        return self.num_steps + len(self.lower)

    @property
    def last_columns(self) -> NDArray[np.int64]:
        """Last column of every chain, shape (chains,): 1 if its group steps in this chain."""
        return self.chain_starts[1:] - 1

    def largest(self) -> NDArray[np.float64]:
        """Return the largest absolute value of every column, shape (columns,)."""
        boxes = np.maximum(np.abs(self.lower), np.abs(self.upper)).astype(np.float64)
        return np.concatenate([np.ones(self.num_steps), boxes])

    def least(self, costs: NDArray[Any]) -> Any:
        """Return the least of costs x over the set, as exact as the numbers are.

        The costs, shape (columns,), are floats, Python's integers (dtype object), or integers of 64 bits that can hold
        the sum of all their absolute values.
        """
        total = self.step_costs(costs)
        value = costs[self.num_steps :]
        boxes = np.minimum(value * self.lower.astype(costs.dtype), value * self.upper.astype(costs.dtype)).sum()
        if not self.num_steps:
            return boxes
        return np.minimum.reduceat(total, self.chain_starts[self.group_starts[:-1]]).sum() + boxes

    def minimiser(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a point where costs x is least, shape (columns,)."""
        point = np.zeros(self.num_columns)
        boxes = costs[self.num_steps :]
        point[self.num_steps :] = np.where(boxes < 0, self.upper, self.lower)
        if not self.num_steps:
            return point
        total = self.step_costs(costs)
        group_starts = self.chain_starts[self.group_starts]
        least = np.minimum.reduceat(total, group_starts[:-1])
        candidates = np.flatnonzero(total == np.repeat(least, np.diff(group_starts)))
        step = candidates[np.searchsorted(candidates, group_starts[:-1])]  # the first one of every group
        jumps = np.zeros(self.num_steps + 1)
        jumps[step] = 1.0
        chain = np.searchsorted(self.chain_starts, step, side="right")
        np.add.at(jumps, self.chain_starts[chain], -1.0)
        point[: self.num_steps] = jumps.cumsum()[:-1]
        return point

    def step_costs(self, costs: NDArray[Any]) -> NDArray[Any]:
        """Return the cost of a step at each column of the chains: the sum of costs from there to its chain's end."""
        from_here = costs[: self.num_steps][::-1].cumsum()[::-1]
        beyond = np.append(from_here, 0)[self.chain_starts[1:]]
        total: NDArray[Any] = from_here - np.repeat(beyond, np.diff(self.chain_starts))
        return total


class RowBuilder:
    """Gathers integer rows ``sum of entries x <= limit`` (or =) as arrays."""

    def __init__(self) -> None:
        self.num_rows = 0
        self._limits: list[NDArray[np.int64]] = []
        self._is_equality: list[NDArray[np.bool_]] = []
        self._rows: list[NDArray[np.int64]] = []
        self._columns: list[NDArray[np.int64]] = []
        self._entries: list[NDArray[np.int64]] = []

    def add(self, limits: Any, *, is_equality: bool = False) -> NDArray[np.int64]:
        """Add rows without entries, one per limit, and return their numbers."""
        limits = np.atleast_1d(np.asarray(limits, dtype=np.int64))
        rows = np.arange(self.num_rows, self.num_rows + len(limits))
        self._limits.append(limits)
        self._is_equality.append(np.full(len(limits), is_equality))
        self.num_rows += len(limits)
        return rows

    def put(self, rows: Any, columns: Any, entries: Any) -> None:
        """Add entries, which may be scalars or arrays that broadcast; entries at the same place add up."""
        arrays = np.broadcast_arrays(*(np.asarray(array, dtype=np.int64) for array in (rows, columns, entries)))
        for gathered, array in zip((self._rows, self._columns, self._entries), arrays, strict=True):
            gathered.append(array.reshape(-1))

    def program(self, cost: NDArray[np.int64], domain: Domain) -> IntegerLp:
        """Return the linear program with these rows, costs per column and domain."""
        return IntegerLp(
            cost=cost, matrix=self.matrix(len(cost)), limit=self.limits(), is_equality=self.is_equality(), domain=domain
        )

    def limits(self) -> NDArray[np.int64]:
        """Return the right-hand sides, shape (rows,)."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *self._limits])

    def is_equality(self) -> NDArray[np.bool_]:
        """Return which rows are equations, shape (rows,)."""
        return np.concatenate([np.zeros(0, dtype=np.bool_), *self._is_equality])

    def matrix(self, num_columns: int) -> csc_matrix:
        """Return the entries, rows by columns, without zeros and duplicates."""
        from scipy.sparse import csc_matrix

        nothing = np.zeros(0, dtype=np.int64)
        rows, columns, entries = (
            np.concatenate([nothing, *arrays]) for arrays in (self._rows, self._columns, self._entries)
        )
        matrix = csc_matrix((entries, (rows, columns)), shape=(self.num_rows, num_columns), dtype=np.int64)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix


_ERROR_BITS = 7
"""Rounding the multipliers may cost about 2**-_ERROR_BITS units of the objective in all rows together."""

_SPARE_BITS = 16
"""Bits beyond those needed, where they fit: columns in boxes are affected by rounding more than once per row."""

_LARGEST_MULTIPLIER = 2.0**100
"""Larger multipliers, and those that are no numbers, cannot be prices and count as 0."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class IntegerLp:
    """Minimise cost x over the x of a domain with matrix x <= limit, some rows with =; all data are integers.

    Parameters
    ----------
    cost
        One entry per column, int64.
    matrix
        Rows by columns, int64, without duplicate entries.
    limit, is_equality
        One entry per row; limits are int64.
    domain
        Further restriction of x.
    """

    cost: NDArray[np.int64]
    matrix: csc_matrix
    limit: NDArray[np.int64]
    is_equality: NDArray[np.bool_]
    domain: Domain

    def with_rows(self, rows: RowBuilder) -> IntegerLp:
        """Return the program with more rows, behind the others."""
        from scipy.sparse import csc_matrix, vstack

        return replace(
            self,
            matrix=csc_matrix(vstack([self.matrix, rows.matrix(len(self.cost))])),
            limit=np.concatenate([self.limit, rows.limits()]),
            is_equality=np.concatenate([self.is_equality, rows.is_equality()]),
        )

    def row_sizes(self) -> NDArray[np.float64]:
        """Return the largest absolute entry of every row, 0 where there is none, shape (rows,)."""
        sizes = np.zeros(len(self.limit))
        np.maximum.at(sizes, self.matrix.indices, np.abs(self.matrix.data))
        return sizes


def dual_bound(lp: IntegerLp, multipliers: NDArray[np.float64]) -> int:
    """Return the bound on the linear program that multipliers, one per row, prove; rounded up, without a solver.

    With y >= 0 (of any sign where the row is an equation), for every x of the linear program

        cost x >= cost x + y (matrix x - limit) >= min over the domain of (cost + y matrix) x - y limit.

    Multipliers of the wrong sign, or that are no finite numbers, count as 0, all are rounded to a grid, and the
    right-hand side is computed in integers. So the bound holds whatever an LP solver did (docs/bounds.md, section 1.3;
    textbook weak duality). Where the domain says that columns sum to 1, the least of them counts, so that tolerances of
    the solver cost next to nothing. If the program has no solution, any bound is right.
    """
    costs, fixed, scale = _priced(lp, multipliers)
    return -(-(int(lp.domain.least(costs)) + fixed) // scale)


def bound_and_excess(lp: IntegerLp, multipliers: NDArray[np.float64]) -> tuple[int, NDArray[np.int64]]:
    """Return `dual_bound`, and by how much it rises at least if a group steps at a column, shape (steps,)."""
    costs, fixed, scale = _priced(lp, multipliers)
    total = lp.domain.step_costs(costs)
    first = lp.domain.chain_starts[lp.domain.group_starts]
    least = np.repeat(np.minimum.reduceat(total, first[:-1]), np.diff(first))
    most = np.iinfo(np.int64).max // 4
    excess = np.minimum((total - least) // scale, most).astype(np.int64)
    return -(-(int(lp.domain.least(costs)) + fixed) // scale), excess


def bound_and_possible(lp: IntegerLp, multipliers: NDArray[np.float64], latest: int) -> tuple[int, NDArray[np.bool_]]:
    """Return `dual_bound`, and at which columns a group may step where the value is at most `latest`, shape (steps,).

    Where the bound itself exceeds that, the columns of least cost stay.
    """
    bound, excess = bound_and_excess(lp, multipliers)
    return bound, (excess == 0) | (bound + excess <= latest)


def _priced(lp: IntegerLp, multipliers: NDArray[np.float64]) -> tuple[NDArray[Any], int, int]:
    """Return the costs of the columns with prices of the rows, what the limits cost, and the unit of both."""
    y = np.where(np.abs(multipliers) < _LARGEST_MULTIPLIER, multipliers, 0.0)
    y = np.where(lp.is_equality, y, np.maximum(y, 0.0))
    bits, kind = _grid(lp, y)
    scale: int = 2**bits
    if kind is object:
        rounded = np.array([math.floor(entry * scale) for entry in y.tolist()], dtype=object)
    else:
        rounded = np.rint(y * scale).astype(np.int64)
    costs = lp.cost.astype(kind) * scale + _through_columns(lp.matrix, rounded)
    return costs, -int((rounded * lp.limit.astype(kind)).sum()), scale


def _through_columns(matrix: csc_matrix, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rows x matrix, in the arithmetic of `rows`."""
    products = matrix.data.astype(rows.dtype) * rows[matrix.indices]
    sums = np.zeros(matrix.shape[1], dtype=rows.dtype)
    used = np.flatnonzero(np.diff(matrix.indptr))
    if len(used):
        sums[used] = np.add.reduceat(products, matrix.indptr[used])
    return sums


def _grid(lp: IntegerLp, y: NDArray[np.float64]) -> tuple[int, type]:
    """Return how many bits after the binary point multipliers get, and in which integers all sums are exact.

    64 bits hold the sums if these stay below 2**61 in absolute value; if the grid would be too coarse for that,
    Python's own integers are used.
    """
    entries, largest = abs(lp.matrix).astype(np.float64), lp.domain.largest()
    limit = np.abs(lp.limit.astype(np.float64))

    def largest_sum(multipliers: NDArray[np.float64], cost: NDArray[np.float64]) -> float:
        return float((cost + entries.T @ multipliers) @ largest + multipliers @ limit + multipliers.sum())

    rounding = largest_sum(np.ones(len(y)), np.zeros(len(lp.cost)))  # a multiplier moves by less than one grid step
    exact = largest_sum(np.abs(y), np.abs(lp.cost.astype(np.float64)))
    needed = math.ceil(math.log2(1.0 + float(np.maximum(lp.row_sizes(), limit).sum()))) + _ERROR_BITS
    room = 2.0**61 - rounding
    possible = math.floor(math.log2(room / max(exact, 1.0))) if room > 0.0 else -1
    return (min(possible, needed + _SPARE_BITS), np.int64) if needed <= possible else (needed + _SPARE_BITS, object)
