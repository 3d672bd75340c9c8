"""Tests of the gap and its alarm."""

from __future__ import annotations

import pytest

from studies.gap import denominators_text, gap_to_bound


def test_gap_and_alarm() -> None:
    """Tests a gap by hand, where none is defined, and that a negative one stops everything."""
    assert gap_to_bound(125, 100, method="heft", instance="i") == 0.25
    assert gap_to_bound(100, 100, method="heft", instance="i") == 0.0
    assert gap_to_bound(5, None, method="heft", instance="i") is None
    assert gap_to_bound(5, 0, method="heft", instance="i") is None
    with pytest.raises(ValueError, match=r"gap: expected at least 0, got objective 99 of heft on 'i' below .* 100\."):
        gap_to_bound(99, 100, method="heft", instance="i")


def test_denominators_in_words() -> None:
    """Tests that only proven optima are called optimality gaps, and that missing bounds are told."""
    assert denominators_text(2, "ab") == "All gaps are optimality gaps: the optima of all 2 instances are proven."
    assert denominators_text(2, "ab", 1).endswith(" are proven. On 1 the optimum is 0: no gap there.")
    assert "proven for 1 of 3 instances" in denominators_text(1, "abc")
    assert denominators_text(1, "abc", 1).endswith("On 1 no bound above 0 is proven: no gap there.")
