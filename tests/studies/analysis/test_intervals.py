"""Tests of the bootstrap interval."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from studies.analysis.intervals import (
    RESAMPLES,
    Interval,
    bootstrap_interval,
    interval_text,
    mean_over_instances,
    seed_interval,
    seed_means,
)


def test_interval_of_two_values_by_hand() -> None:
    """Tests that of {0, 1} the mean of two draws is 0, 1/2 or 1, the ends with probability 1/4 each."""
    assert bootstrap_interval([0.0, 1.0], "mean") == (0.0, 1.0)
    assert bootstrap_interval([0.0, 1.0], "mean", level=0.4) == (0.5, 0.5)


def test_interval_of_equal_values_is_exact() -> None:
    """Tests that rounding opens no interval: the sum of three times 0.1 is not 0.3."""
    assert bootstrap_interval([0.1, 0.1, 0.1], "mean") == (0.1, 0.1)


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


def runs(*rows: tuple[str, int, float]) -> pd.DataFrame:
    """Return runs, given as instance, repetition and gap."""
    return pd.DataFrame(rows, columns=["instance", "repetition", "gap"])


def test_repetitions_are_averaged_before_instances() -> None:
    """Tests that two runs of an instance count once: (2 + 6) / 2, and draws of {2, 6} lie between these two."""
    found = mean_over_instances(runs(("a", 0, 1.0), ("a", 1, 3.0), ("b", 0, 6.0), ("c", 0, np.nan)), "gap")
    assert found == {"gap": 4.0, "gap_low": 2.0, "gap_high": 6.0}
    assert mean_over_instances(runs(("a", 0, 1.0)), "gap") == {"gap": 1.0, "gap_low": None, "gap_high": None}
    assert mean_over_instances(runs(("a", 0, np.nan)), "gap") == {"gap": None, "gap_low": None, "gap_high": None}


def test_means_of_seeds_are_over_all_instances() -> None:
    """Tests that a repetition that lacks an instance is left out, and that runs of one instance are averaged first."""
    rows = [("a", 0, 1.0), ("b", 0, 3.0), ("a", 1, 2.0), ("a", 2, 3.0), ("a", 2, 5.0), ("b", 2, 6.0)]
    assert seed_means(runs(*rows), "gap").tolist() == [2.0, 5.0]


def test_interval_of_few_seeds() -> None:
    """Tests Student's interval of 1 to 5, 2.776 times the root of 2.5 over the root of 5 to a side, and of 1 and 2."""
    half = 2.776445 * np.sqrt(2.5) / np.sqrt(5)
    assert seed_interval([1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx((3 - half, 3 + half), abs=1e-6)
    assert seed_interval([1.0, 2.0]) == pytest.approx((1.5 - 12.706205 / 2, 1.5 + 12.706205 / 2), abs=1e-6)
    assert seed_interval([1.0]) is None


def test_intervals_in_words() -> None:
    """Tests that the ends are percentage points, and that there may be no interval."""
    assert interval_text(Interval(-0.012, 0.5)) == "[-1.20, +50.00]"
    assert interval_text(None) == "-"
