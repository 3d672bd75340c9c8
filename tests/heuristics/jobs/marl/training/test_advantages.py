"""Tests that advantages of instances weigh alike, whatever their returns."""

from __future__ import annotations

import numpy as np

from heuristics.jobs.marl.training.advantages import scale_of


def test_a_single_decision_does_not_drown_others() -> None:
    """Tests instances of one job, with an episode each: advantages of 1e8 would leave gradients of nobody else."""
    assert scale_of(np.array([-40.0])) == 40
    assert scale_of(np.zeros(3)) == 1
    assert scale_of(np.array([-3.0, 3.0])) == 3
