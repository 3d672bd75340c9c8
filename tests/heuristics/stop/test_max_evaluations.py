"""Tests of budgets in evaluations."""

from __future__ import annotations

import pytest

from heuristics.progress import Progress
from heuristics.stop import MaxEvaluations


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
