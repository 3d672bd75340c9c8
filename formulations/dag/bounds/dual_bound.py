"""Lower bounds from multipliers of a linear program, proved in exact integer arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csc_matrix

    from formulations.dag.bounds.domain import Domain

_ERROR_BITS = 7
"""Rounding a multiplier may cost about 2**-_ERROR_BITS units of the objective in all rows together."""

_SPARE_BITS = 16
"""More than needed, where there is room: columns in boxes feel rounding more than once per row."""

_LARGEST_MULTIPLIER = 2.0**100
"""What is larger, or no number, is no price of anything and counts as 0."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class IntegerLp:
    """Minimise cost x over the x of a domain with matrix x <= limit, some rows with =; all data are integers.

    Parameters
    ----------
    cost
        Per column, int64.
    matrix
        Rows by columns, int64, without duplicate entries.
    limit
        Per row, int64.
    is_equality
        Per row.
    domain
        Where x lies besides.
    """

    cost: NDArray[np.int64]
    matrix: csc_matrix
    limit: NDArray[np.int64]
    is_equality: NDArray[np.bool_]
    domain: Domain

    def row_sizes(self) -> NDArray[np.float64]:
        """Return the largest absolute entry of every row, 0 where there is none, shape (rows,)."""
        sizes = np.zeros(len(self.limit))
        np.maximum.at(sizes, self.matrix.indices, np.abs(self.matrix.data))
        return sizes


def dual_bound(lp: IntegerLp, multipliers: NDArray[np.float64]) -> int:
    """Return the bound on the LP that some multipliers prove, rounded up; exact integer arithmetic, no solver.

    With y >= 0 (of any sign where the row is an equation), for every x of the LP

        cost x >= cost x + y (matrix x - limit) >= min over the domain of (cost + y matrix) x - y limit.

    Multipliers of the wrong sign count as 0, all are rounded to a grid, and the right-hand side is computed in
    integers: whatever an LP solver did, the bound holds. (Known: textbook weak duality.) Where the domain says that
    columns sum to 1, the least of them counts, so that tolerances of the solver cost next to nothing.

    Parameters
    ----------
    lp
        The linear program; if it has no solution, any bound is right.
    multipliers
        One per row; those that are no finite numbers count as 0.
    """
    y = np.where(np.abs(multipliers) < _LARGEST_MULTIPLIER, multipliers, 0.0)
    y = np.where(lp.is_equality, y, np.maximum(y, 0.0))
    bits, kind = _grid(lp, y)
    scale: int = 2**bits
    if kind is object:
        rounded = np.array([math.floor(entry * scale) for entry in y.tolist()], dtype=object)
    else:
        rounded = np.rint(y * scale).astype(np.int64)
    costs = lp.cost.astype(kind) * scale + _through_columns(lp.matrix, rounded)
    value: int = int(lp.domain.least(costs)) - int((rounded * lp.limit.astype(kind)).sum())
    return -(-value // scale)


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

    64 bits hold the sums if these stay below 2**61 in absolute value; where the grid would be too coarse for that,
    Python's own integers take over.
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
