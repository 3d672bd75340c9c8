from __future__ import annotations

import warnings

import numpy as np
import pytest

from instances.rounding import RoundingWarning, ticks_from_seconds


def place(index: tuple[int, ...]) -> str:
    """Name a task."""
    return f"tasks[{index[0]}]"


def test_nearest_tick_at_least_one() -> None:
    """Tests that times go to the nearest tick, short ones to one tick, zero to zero and NaN to not allowed."""
    seconds = np.array([1.0, 1.0004, 0.0, np.nan, 1e-9])
    with pytest.warns(RoundingWarning):
        assert ticks_from_seconds(seconds, 0.001, place=place).tolist() == [1000, 1000, 0, -1, 1]


def test_no_warning_at_a_tenth_of_a_percent() -> None:
    """Tests that a change of just below 0.1 % passes in silence."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ticks_from_seconds(np.array([0.50049]), 0.001, place=place).tolist() == [500]


def test_warning_above_a_tenth_of_a_percent() -> None:
    """Tests that one warning names the number of changed durations and the worst of them."""
    with pytest.warns(RoundingWarning, match=r"2 of 3 durations .* ticks of 0\.001 s, tasks\[1\] by 33\.3 %") as caught:
        ticks_from_seconds(np.array([0.1002, 0.0015, 0.3]), 0.001, place=place)
    assert len(caught) == 1


@pytest.mark.parametrize(("seconds", "got"), [(-1.0, "-1"), (1e16, r"1e\+16")])
def test_times_out_of_range(seconds: float, got: str) -> None:
    """Tests that negative times and times beyond 2**53 ticks are refused."""
    with pytest.raises(ValueError, match=rf"tasks\[1\]: expected 0 to 2\*\*53 ticks, got {got} s"):
        ticks_from_seconds(np.array([1.0, seconds]), 1.0, place=place)


def test_a_tick_is_positive() -> None:
    """Tests that a tick of no length is refused."""
    with pytest.raises(ValueError, match="tick_seconds: expected a positive number, got 0"):
        ticks_from_seconds(np.array([1.0]), 0.0, place=place)
