"""Rows of a linear program, gathered block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csc_matrix


class RowBuilder:
    """Gathers integer rows ``sum of entries x <= limit`` (or =) as arrays.

    Attributes
    ----------
    num_rows
        Rows so far.
    """

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
        """Add entries, which may be scalars or arrays that broadcast; at the same place they add up."""
        arrays = np.broadcast_arrays(*(np.asarray(array, dtype=np.int64) for array in (rows, columns, entries)))
        for gathered, array in zip((self._rows, self._columns, self._entries), arrays, strict=True):
            gathered.append(array.reshape(-1))

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
