"""Tests of budgets in seconds."""

from __future__ import annotations

import pytest

from heuristics.progress import Progress
from heuristics.stop import MaxSeconds


def test_stops_at_the_time() -> None:
    """Tests that the time since the run began counts and that its share grows with it, up to 1."""
    stop = MaxSeconds(2.0)
    states = [Progress(seconds=seconds) for seconds in (0.0, 0.5, 1.999, 2.0, 5.0)]
    assert [stop(state) for state in states] == [False, False, False, True, True]
    assert [stop.share(state) for state in states] == [0.0, 0.25, pytest.approx(0.9995), 1.0, 1.0]


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_time_is_positive(seconds: float) -> None:
    """Tests that no time, negative time and NaN are refused."""
    with pytest.raises(ValueError, match=rf"^seconds: expected a positive number, got {seconds}\.$"):
        MaxSeconds(seconds)
