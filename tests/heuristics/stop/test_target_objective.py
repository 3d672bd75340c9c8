"""Tests of stopping where the schedule is good enough."""

from __future__ import annotations

from heuristics.progress import Progress
from heuristics.stop import TargetObjective


def test_stops_at_the_target() -> None:
    """Tests that no schedule is not good enough, and that the target itself is."""
    stop = TargetObjective(15)
    states = [Progress(objective=objective) for objective in (None, 16, 15, 14)]
    assert [stop(state) for state in states] == [False, False, True, True]
    assert [stop.share(state) for state in states] == [0.0] * 4


def test_zero_is_a_target() -> None:
    """Tests that a target of 0 is reached by an objective of 0 and not by an unknown one."""
    assert TargetObjective(0)(Progress(objective=0))
    assert not TargetObjective(0)(Progress(objective=None))
