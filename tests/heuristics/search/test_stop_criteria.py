"""Tests of several criteria at once."""

from __future__ import annotations

import pytest

from heuristics.search.progress import Progress
from heuristics.search.stop_criteria import AnyOf, MaxEvaluations, MaxSeconds, MaxStagnation, TargetObjective


def test_first_criterion_stops() -> None:
    """Tests that any criterion stops and that the share is that of the budget used most."""
    stop = AnyOf([MaxEvaluations(10), MaxSeconds(2.0), TargetObjective(7)])
    assert not stop(Progress(evaluations=9, seconds=1.9, objective=8))
    assert stop(Progress(evaluations=10, seconds=0.0, objective=8))
    assert stop(Progress(evaluations=1, seconds=2.0, objective=8))
    assert stop(Progress(evaluations=1, seconds=0.0, objective=7))
    assert stop.share(Progress(evaluations=1, seconds=0.5)) == 0.25
    assert stop.share(Progress(evaluations=9, seconds=0.5)) == 0.9


def test_nested_and_empty() -> None:
    """Tests that combinations nest and that no criteria never stop."""
    nested = AnyOf([AnyOf([]), AnyOf([MaxEvaluations(2)])])
    assert nested(Progress(evaluations=2))
    assert nested.share(Progress(evaluations=1)) == 0.5
    assert not AnyOf([])(Progress(evaluations=10**9))
    assert AnyOf([]).share(Progress(evaluations=10**9)) == 0.0


def test_stops_at_the_number() -> None:
    """Tests that the budget is used to the unit and that its share grows with it, up to 1."""
    stop = MaxEvaluations(4)
    states = [Progress(evaluations=count) for count in (0, 1, 3, 4, 9)]
    assert [stop(state) for state in states] == [False, False, False, True, True]
    assert [stop.share(state) for state in states] == [0.0, 0.25, 0.75, 1.0, 1.0]


@pytest.mark.parametrize("number", [0, -3])
def test_number_is_positive(number: int) -> None:
    """Tests that a budget below one evaluation is refused."""
    with pytest.raises(ValueError, match=rf"^evaluations: expected at least 1, got {number}\.$"):
        MaxEvaluations(number)


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


def test_counts_from_the_last_improvement() -> None:
    """Tests that the evaluations since the last improvement count, and that the criterion is no budget."""
    stop = MaxStagnation(3)
    states = [Progress(evaluations=count, improved_at=5) for count in (5, 7, 8, 20)]
    assert [stop(state) for state in states] == [False, False, True, True]
    assert [stop.share(state) for state in states] == [0.0] * 4


def test_number_is_positive_max_stagnation() -> None:
    """Tests that stopping after no evaluations is refused."""
    with pytest.raises(ValueError, match=r"^evaluations: expected at least 1, got 0\.$"):
        MaxStagnation(0)


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
