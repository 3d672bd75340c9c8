"""Tests of gathering rows."""

from __future__ import annotations

import numpy as np

from formulations.dag.bounds.row_builder import RowBuilder


def test_rows_by_hand() -> None:
    """Tests numbers of rows, scalars that broadcast, entries that add up or vanish, limits and equations."""
    rows = RowBuilder()
    first = rows.add([7, 8])
    second = rows.add(9, is_equality=True)
    assert (first.tolist(), second.tolist(), rows.num_rows) == ([0, 1], [2], 3)
    rows.put(first, [0, 1], 5)
    rows.put(second, [0, 1, 2], [1, 2, 3])
    rows.put(2, 0, 10)
    rows.put(1, 1, -5)
    matrix = rows.matrix(4)
    assert matrix.toarray().tolist() == [[5, 0, 0, 0], [0, 0, 0, 0], [11, 2, 3, 0]]
    assert matrix.nnz == 4
    assert matrix.dtype == np.int64
    assert rows.limits().tolist() == [7, 8, 9]
    assert rows.is_equality().tolist() == [False, False, True]


def test_no_rows() -> None:
    """Tests that nothing gathered is a matrix without rows."""
    rows = RowBuilder()
    assert rows.matrix(3).shape == (0, 3)
    assert rows.limits().tolist() == []
