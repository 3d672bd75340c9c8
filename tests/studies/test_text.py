"""Tests of gaps as texts."""

from __future__ import annotations

import pytest

from studies.text import percent


@pytest.mark.parametrize(
    ("gap", "text"),
    [(None, "-"), (0.0, "0.00"), (1e-6, "<0.01"), (0.00005, "0.01"), (0.1234567, "12.35"), (3.0, "300.00")],
)
def test_only_the_optimum_is_zero(gap: float | None, text: str) -> None:
    """Tests that gaps have two decimals, and that a tiny gap is not shown as none."""
    assert percent(gap) == text
