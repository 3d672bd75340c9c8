"""Tests of several criteria at once."""

from __future__ import annotations

from heuristics.progress import Progress
from heuristics.stop import AnyOf, MaxEvaluations, MaxSeconds, TargetObjective


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
