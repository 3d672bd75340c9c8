"""Tests of performance profiles by hand."""

from __future__ import annotations

import numpy as np
import pytest

from studies.statistics.performance_profile import performance_profile

NAN = float("nan")
VALUES = np.array([[1.0, 2.0], [4.0, 2.0], [3.0, NAN], [NAN, NAN]])
"""Two methods on four instances; on the last one neither has a value."""


def test_against_the_best_method() -> None:
    """Tests ratios 1, 2, 1, none and 2, 1, none, none: as published, unsolved instances stay in the denominator."""
    profile = performance_profile(VALUES)
    assert profile.factors.tolist() == [1.0, 2.0]
    assert profile.shares.tolist() == [[0.5, 0.25], [0.75, 0.5]]
    assert [profile.share(0, factor) for factor in (0.5, 1.0, 1.9, 2.0, 99.0)] == [0.0, 0.5, 0.5, 0.75, 0.75]


def test_against_a_bound() -> None:
    """Tests ratios to bounds 1, 2, 2 and 1: they do not depend on the other method."""
    bounds = np.array([1.0, 2.0, 2.0, 1.0])
    both, alone = performance_profile(VALUES, bounds), performance_profile(VALUES[:, :1], bounds)
    assert both.factors.tolist() == [1.0, 1.5, 2.0]
    assert both.shares[:, 0].tolist() == [0.25, 0.5, 0.75]
    assert both.shares[:, 1].tolist() == [0.25, 0.25, 0.5]
    assert [alone.share(0, factor) for factor in both.factors] == both.shares[:, 0].tolist()


def test_profile_as_a_frame() -> None:
    """Tests that the frame holds every share at every factor, tidy."""
    frame = performance_profile(VALUES).to_frame(["woa", "ga"])
    assert frame.to_dict("list") == {
        "label": ["woa", "woa", "ga", "ga"],
        "factor": [1.0, 2.0, 1.0, 2.0],
        "share": [0.5, 0.75, 0.25, 0.5],
    }


def test_shares_rise() -> None:
    """Tests that shares never fall and stay in [0, 1]."""
    values = np.random.default_rng(1).lognormal(size=(40, 5))
    shares = performance_profile(values).shares
    assert (np.diff(shares, axis=0) >= 0).all()
    assert (shares[-1] == 1).all()
    assert shares[0].sum() == pytest.approx(1.0)  # every instance has one best method, no ties here


def test_refuses_what_has_no_ratio() -> None:
    """Tests that values of 0 and values below the reference are named."""
    with pytest.raises(ValueError, match="values: expected numbers above 0"):
        performance_profile(np.array([[0.0, 1.0]]))
    with pytest.raises(ValueError, match="reference: expected at most every value"):
        performance_profile(np.array([[1.0]]), np.array([2.0]))
