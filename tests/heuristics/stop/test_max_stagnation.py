"""Tests of stopping where nothing becomes better."""

from __future__ import annotations

import pytest

from heuristics.progress import Progress
from heuristics.stop import MaxStagnation


def test_counts_from_the_last_improvement() -> None:
    """Tests that the evaluations since the last improvement count, and that the criterion is no budget."""
    stop = MaxStagnation(3)
    states = [Progress(evaluations=count, improved_at=5) for count in (5, 7, 8, 20)]
    assert [stop(state) for state in states] == [False, False, True, True]
    assert [stop.share(state) for state in states] == [0.0] * 4


def test_number_is_positive() -> None:
    """Tests that stopping after no evaluations is refused."""
    with pytest.raises(ValueError, match=r"^evaluations: expected at least 1, got 0\.$"):
        MaxStagnation(0)
