"""Tests that the baseline of an episode comes from the others of its instance."""

from __future__ import annotations

import numpy as np

from heuristics.jobs.marl.training.same_instance import mean_of_others


def test_three_episodes_by_hand() -> None:
    """Tests values between, before and after the steps of the others."""
    times = [np.array([0, 10]), np.array([5]), np.array([2, 4, 20])]
    gains = [np.array([1.0, 3.0]), np.array([8.0]), np.array([0.0, 2.0, -6.0])]
    found = mean_of_others(times, gains)
    assert found[0].tolist() == [(8 + 0) / 2, (8 + 2 - 8 * 6 / 16) / 2]
    assert found[1].tolist() == [(2 + 2 - 8 * 1 / 16) / 2]
    assert found[2].tolist() == [(1.4 + 8) / 2, (1.8 + 8) / 2, (3 + 8) / 2]


def test_an_episode_alone_has_none() -> None:
    """Tests one episode, and that a baseline does not change with the episode's own gains."""
    times = [np.array([0, 10]), np.array([3, 6])]
    one = mean_of_others(times, [np.array([1.0, 2.0]), np.array([3.0, 4.0])])
    two = mean_of_others(times, [np.array([9.0, 9.0]), np.array([3.0, 4.0])])
    assert one[0].tolist() == two[0].tolist()
    assert one[1].tolist() != two[1].tolist()
    assert mean_of_others(times[:1], [np.array([1.0, 2.0])])[0].tolist() == [0.0, 0.0]
