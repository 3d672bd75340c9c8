"""Tests of the bootstrap interval."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from studies.analysis.intervals import RESAMPLES, bootstrap_interval


def test_interval_of_two_values_by_hand() -> None:
    """Tests that of {0, 1} the mean of two draws is 0, 1/2 or 1, the ends with probability 1/4 each."""
    assert bootstrap_interval([0.0, 1.0], "mean") == (0.0, 1.0)
    assert bootstrap_interval([0.0, 1.0], "mean", level=0.4) == (0.5, 0.5)


def test_mean_of_many_is_near_normal() -> None:
    """Tests the interval of a mean against the normal one, which it must come close to."""
    values = np.random.default_rng(3).normal(5.0, 2.0, 400)
    interval = bootstrap_interval(values, "mean")
    assert interval is not None
    half = 1.96 * values.std() / 20
    assert interval == pytest.approx((values.mean() - half, values.mean() + half), abs=0.03)


@pytest.mark.parametrize("count", [2, 7, 40, 41])
@pytest.mark.parametrize("statistic", ["median", "mean"])
def test_agrees_with_scipy(count: int, statistic: Literal["median", "mean"]) -> None:
    """Tests the interval against SciPy's percentile bootstrap with the same draws."""
    values = np.random.default_rng(count).exponential(size=count)
    data = np.sort(values) if statistic == "median" else values
    expected = stats.bootstrap(
        (data,),
        {"median": np.median, "mean": np.mean}[statistic],
        n_resamples=RESAMPLES,
        confidence_level=0.9,
        method="percentile",
        batch=1000,
        random_state=np.random.default_rng(5),
    ).confidence_interval
    found = bootstrap_interval(values, statistic, level=0.9, seed=5)
    assert found == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_order_of_the_instances_does_not_matter_to_a_median() -> None:
    """Tests that shuffled values have the same interval."""
    values = np.random.default_rng(6).exponential(size=21)
    assert bootstrap_interval(values) == bootstrap_interval(values[::-1])


def test_same_seed_same_interval() -> None:
    """Tests that the draws come from the seed alone."""
    values = np.random.default_rng(4).exponential(size=30)
    assert bootstrap_interval(values, seed=1) == bootstrap_interval(values, seed=1)
    assert bootstrap_interval(values, seed=1) != bootstrap_interval(values, "mean", seed=1)


@settings(max_examples=20, deadline=None)
@given(values=st.lists(st.integers(-5, 5), min_size=2, max_size=7))
def test_interval_lies_within_the_values(values: list[int]) -> None:
    """Tests that the ends are ordered and between the smallest and the largest value."""
    interval = bootstrap_interval(values)
    assert interval is not None
    assert min(values) <= interval.low <= interval.high <= max(values)


def test_one_value_says_nothing() -> None:
    """Tests that there is no interval of one value, and a point where all are equal."""
    assert bootstrap_interval([1.0]) is None
    assert bootstrap_interval([]) is None
    assert bootstrap_interval([2.0, 2.0, 2.0]) == (2.0, 2.0)
