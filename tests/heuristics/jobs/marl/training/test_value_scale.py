"""Tests that the scale of values leads there and back."""

from __future__ import annotations

import numpy as np

from heuristics.jobs.marl.training.value_scale import ValueScale


def test_there_and_back() -> None:
    """Tests returns of mean 5 and deviation 3, the scale that changes nothing, and returns that are all alike."""
    returns = np.array([2.0, 8.0])
    scale = ValueScale.of(returns)
    assert scale == (5, 3)
    assert scale.values(returns).tolist() == [-1, 1]
    assert scale.returns(np.array([-1.0, 1.0])).tolist() == [2, 8]
    assert ValueScale().values(returns).tolist() == ValueScale().returns(returns).tolist() == [2, 8]
    assert ValueScale.of(np.full(3, 7.0)).values(np.full(3, 7.0)).tolist() == [0, 0, 0]
