"""Tests of the way between y and speeds."""

from __future__ import annotations

import math

import numpy as np

from heuristics.jobs.interference_predictor.predicted_speed import predicted_speed, slowness


def test_every_speed_comes_back() -> None:
    """Tests that the y of each speed from 1 to 1000 gives that speed and not one less for rounding."""
    speeds = np.arange(1, 1001)
    assert predicted_speed(slowness(speeds)).tolist() == speeds.tolist()
    assert slowness([1000, 500]).tolist() == [0.0, math.log(2)]


def test_floor_and_ends() -> None:
    """Tests the formula in between, and that no y leads out of 1 to 1000."""
    assert predicted_speed([math.log(1000 / 768.99), math.log(1.3)]).tolist() == [768, 769]
    assert predicted_speed([-1000.0, -0.1, 0.0, 6.95, 1e9]).tolist() == [1000, 1000, 1000, 1, 1]
