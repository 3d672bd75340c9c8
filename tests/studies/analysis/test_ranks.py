"""Tests of average ranks, the Friedman test and the critical difference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from studies.analysis.ranks import average_ranks, critical_difference, friedman, indistinct_groups

DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],  # printed as .975 twice, ranked 2 and 3
        [0.957, 0.978, 0.946, 0.970],
    ]
)
"""Table 6: AUC of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets; larger is better."""


def test_average_ranks_of_a_published_table() -> None:
    """Tests the ranks 3.143, 2.000, 2.893 and 1.964 of Demsar (2006), ties averaged."""
    assert average_ranks(-DEMSAR) == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)


def test_friedman_of_a_published_table() -> None:
    """Tests the statistic: 9.28 as published, without the correction for ties, which divides by 1 - 78/840."""
    test = friedman(-DEMSAR)
    assert test is not None
    ranks = average_ranks(-DEMSAR)
    published = 12 * 14 / (4 * 5) * ((ranks**2).sum() - 4 * 25 / 4)
    assert published == pytest.approx(9.28, abs=0.005)
    assert test.statistic == pytest.approx(published / (1 - 78 / 840))
    assert test.p_value < 0.05


@pytest.mark.parametrize(("methods", "instances", "expected"), [(4, 14, 1.25), (6, 36, 1.257), (2, 10, 0.6198)])
def test_critical_difference(methods: int, instances: int, expected: float) -> None:
    """Tests published values: Demsar's 1.25, q = 2.850 for six methods, q = 1.960 for two."""
    assert critical_difference(methods, instances) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(
    ("methods", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (8, 3.031), (10, 3.164)]
)
def test_critical_values(methods: int, q: float) -> None:
    """Tests the values of table 5 of Demsar (2006) for a level of 0.05."""
    found = critical_difference(methods, 1) / np.sqrt(methods * (methods + 1) / 6)
    assert found == pytest.approx(q, abs=1e-3)


@given(values=arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.integers(0, 4)))
def test_ranks_sum_to_what_they_must(values: np.ndarray) -> None:
    """Tests that average ranks sum to k (k + 1) / 2 and lie in [1, k], whatever the ties."""
    ranks = average_ranks(values)
    count = values.shape[1]
    assert ranks.sum() == pytest.approx(count * (count + 1) / 2)
    assert (ranks >= 1).all()
    assert (ranks <= count).all()
    test = friedman(values)
    assert test is None or 0 <= test.p_value <= 1


@given(values=arrays(np.float64, st.tuples(st.integers(2, 9), st.integers(3, 6)), elements=st.integers(0, 4)))
def test_friedman_agrees_with_scipy(values: np.ndarray) -> None:
    """Tests statistic and p-value against SciPy, ties included; where all are tied SciPy divides 0 by 0."""
    test = friedman(values)
    assert test is not None
    if (values == values[:, :1]).all():
        assert (test.statistic, test.p_value) == (0.0, 1.0)
        return
    expected = stats.friedmanchisquare(*values.T)
    assert test.statistic == pytest.approx(float(expected.statistic), abs=1e-9)
    assert test.p_value == pytest.approx(float(expected.pvalue), abs=1e-12)


@pytest.mark.parametrize("methods", [2, 3, 10, 24, 60])
@pytest.mark.parametrize("level", [0.001, 0.05, 0.1])
def test_critical_difference_agrees_with_scipy(methods: int, level: float) -> None:
    """Tests the studentized range behind it, also for more methods than published tables hold."""
    expected = stats.studentized_range.ppf(1 - level, methods, np.inf) / np.sqrt(2)
    found = critical_difference(methods, 1, level) / np.sqrt(methods * (methods + 1) / 6)
    assert found == pytest.approx(float(expected), rel=1e-8)


def test_groups_are_the_largest() -> None:
    """Tests groups by hand, overlapping ones included, none within another, none of one."""
    assert indistinct_groups([1.0, 1.5, 2.2, 3.4], 1.0) == [[0, 1], [1, 2]]
    assert indistinct_groups([3.0, 1.0, 2.0], 5.0) == [[1, 2, 0]]
    assert indistinct_groups([1.0, 3.0], 1.0) == []
    assert indistinct_groups([1.964, 2.0, 2.893, 3.143], 1.25) == [[0, 1, 2, 3]]


def test_too_little_to_say() -> None:
    """Tests that two methods or one instance give no Friedman test, and equal methods p 1."""
    assert friedman(np.ones((5, 2))) is None
    assert friedman(np.array([[1.0, 2.0, 3.0]])) is None
    equal = friedman(np.ones((5, 3)))
    assert equal is not None
    assert (equal.statistic, equal.p_value) == (0.0, 1.0)


def test_refuses_gaps() -> None:
    """Tests that a missing value is not ranked."""
    with pytest.raises(ValueError, match="got NaN"):
        average_ranks(np.array([[1.0, np.nan]]))
    with pytest.raises(ValueError, match="expected instances in rows"):
        average_ranks(np.empty((0, 2)))
    with pytest.raises(ValueError, match="critical difference: expected at least two methods"):
        critical_difference(1, 5)
