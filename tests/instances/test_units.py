"""Tests of durations and sizes as people read them."""

from __future__ import annotations

import pytest

from instances.units import duration_text, size_text, ticks_text, time_unit


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (1.0, "1 s"),
        (0.00125, "1.25 ms"),
        (2.5e-5, "25 µs"),
        (3e-10, "0.3 ns"),
        (150.0, "150 s"),
        (180.0, "3 min"),
        (5400.0, "90 min"),
        (7200.0, "2 h"),
        (172_800.0, "2 d"),
        (1e9, "11574 d"),
        (0.9996, "1000 ms"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    """Tests that a duration is stated in the unit that suits it, with three digits and without an exponent."""
    assert duration_text(seconds) == text
    name, length = time_unit(seconds)
    assert text.endswith(f" {name}")
    assert float(text.split()[0]) * length == pytest.approx(seconds, rel=5e-3)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (3 * 2**29, "1.5 GiB"), (40 * 2**30, "40 GiB")],
)
def test_sizes(size: int, text: str) -> None:
    """Tests that a size is stated in the unit that suits it."""
    assert size_text(size) == text


def test_fewer_digits() -> None:
    """Tests that an estimate is stated with the digits that it deserves."""
    texts = [duration_text(seconds, 2) for seconds in (3.44, 100.4, 89.0, 200.0, 5399.0, 7200.0)]
    assert texts == ["3.4 s", "100 s", "89 s", "3.3 min", "90 min", "2 h"]


def test_ticks_stand_with_their_duration() -> None:
    """Tests that ticks are followed by what they are in human units."""
    assert ticks_text(1250, 1e-6) == "1250 ticks (1.25 ms)"
