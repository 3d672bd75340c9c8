"""Tests that targets and advantages are those of the textbook, with a discount of its own for every step."""

from __future__ import annotations

import numpy as np
import pytest

from heuristics.jobs.marl.training.lambda_returns import decision_targets, lambda_returns
from heuristics.jobs.marl.training.recorded_episode import RecordedEpisode


def plain_advantages(reward: list[float], discount: list[float], value: list[float], decay: float) -> list[float]:
    """Return the generalised advantage estimates as a double sum over temporal differences."""
    ahead = [*value[1:], 0.0]
    delta = [r + d * then - now for r, d, now, then in zip(reward, discount, value, ahead, strict=True)]
    found = []
    for first in range(len(reward)):
        total, factor = 0.0, 1.0
        for step in range(first, len(reward)):
            total += factor * delta[step]
            factor *= discount[step] * decay
        found.append(total)
    return found


@pytest.mark.parametrize("decay", [0.0, 0.6, 0.95, 1.0])
def test_against_a_plain_transcription(decay: float) -> None:
    """Tests returns less values against the sum of temporal differences."""
    rng = np.random.default_rng(4)
    reward, value = rng.normal(size=9), rng.normal(size=9)
    discount = rng.uniform(0.3, 1.0, 9)
    found = lambda_returns(reward, discount, value, decay) - value
    assert found == pytest.approx(plain_advantages(reward.tolist(), discount.tolist(), value.tolist(), decay))


def test_ends_of_lambda() -> None:
    """Tests three steps by hand: lambda 1 is what was earned, lambda 0 looks one step ahead."""
    reward, discount, value = np.array([-1.0, -2.0, -4.0]), np.array([0.5, 0.25, 0.9]), np.array([3.0, 5.0, 7.0])
    assert lambda_returns(reward, discount, value, 1.0).tolist() == [-1 + 0.5 * (-2 + 0.25 * -4), -2 + 0.25 * -4, -4]
    assert lambda_returns(reward, discount, value, 0.0).tolist() == [-1 + 0.5 * 5, -2 + 0.25 * 7, -4]


def test_decisions_of_a_step_share_its_target() -> None:
    """Tests that the value of a step is the mean over its decisions, and all of them have its return."""
    episode = RecordedEpisode(
        seen=None,  # type: ignore[arg-type]  # not looked at
        slot=np.zeros(3, dtype=np.int32),
        step=np.array([0, 1, 1]),
        time=np.array([0, 10]),
        reward=np.array([-1.0, -2.0]),
        discount=np.array([0.5, 0.5]),
        mean_jct=1.0,
    )
    found = decision_targets(episode, np.array([9.0, 4.0, 8.0]), 0.5)
    assert found.tolist() == [-1 + 0.5 * (0.5 * 6 + 0.5 * -2), -2, -2]
