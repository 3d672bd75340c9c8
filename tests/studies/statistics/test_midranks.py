"""Tests of ranks with ties against SciPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from studies.statistics.midranks import midranks


@given(values=arrays(np.float64, st.tuples(st.integers(0, 5), st.integers(1, 9)), elements=st.integers(-2, 3)))
def test_agrees_with_scipy(values: np.ndarray) -> None:
    """Tests ranks within rows, many of them tied, and of a single row."""
    assert midranks(values).tolist() == (rankdata(values, axis=1).tolist() if len(values) else [])
    for row in values:
        assert midranks(row).tolist() == rankdata(row).tolist()


def test_by_hand() -> None:
    """Tests that two seconds share 2.5, and that nothing has no ranks."""
    assert midranks(np.array([30.0, 10.0, 20.0, 20.0])).tolist() == [4.0, 1.0, 2.5, 2.5]
    assert midranks(np.zeros(0)).tolist() == []
