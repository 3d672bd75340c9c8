"""Tests of Holm's correction."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.statistics.holm import holm

P_VALUES = st.lists(st.floats(0, 1), max_size=8)


def test_published_example() -> None:
    """Tests the example of Demsar (2006), 3.2.2: .016, .019 and .607 against .017, .025 and .05: two are rejected."""
    adjusted = holm([0.019, 0.607, 0.016])
    assert adjusted == pytest.approx([0.048, 0.607, 0.048])


def test_by_hand() -> None:
    """Tests the multipliers 4, 3, 2, 1 and that no value falls below the one before it."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.4]) == pytest.approx([0.8, 0.8])


def test_tests_that_were_not_made_do_not_count() -> None:
    """Tests that None stays None and the others are multiplied by their own number."""
    assert holm([None, 0.02, None, 0.03]) == [None, pytest.approx(0.04), None, pytest.approx(0.04)]
    assert holm([]) == []


@given(p_values=P_VALUES)
def test_keeps_order_and_bounds(p_values: list[float]) -> None:
    """Tests that adjusted values are in the same order, at least the raw ones, at most Bonferroni's, at most 1."""
    adjusted = [value for value in holm(p_values) if value is not None]
    assert len(adjusted) == len(p_values)
    pairs = sorted(zip(p_values, adjusted, strict=True))
    assert [after for _, after in pairs] == sorted(adjusted)
    for before, after in pairs:
        assert before <= after <= min(1.0, len(p_values) * max(p_values))
        assert after == 1.0 or after <= len(p_values) * before or before < after


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_refuses_what_is_no_p_value(wrong: float) -> None:
    """Tests that numbers outside [0, 1] are named."""
    with pytest.raises(ValueError, match=r"p_values: expected numbers in \[0, 1\]"):
        holm([0.5, wrong])
