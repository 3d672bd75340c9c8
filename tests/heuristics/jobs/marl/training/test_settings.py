"""Tests that settings are checked, and that the weight of the entropy falls linearly."""

from __future__ import annotations

from typing import Any

import pytest

from heuristics.jobs.marl.training.settings import REFERENCE, TrainingSettings


def test_numbers_of_the_reference() -> None:
    """Tests the numbers of section 3.6, and the ends and the middle of the entropy's weight and of the rate."""
    given = TrainingSettings(**REFERENCE)  # type: ignore[arg-type]
    for name, value in REFERENCE.items():
        assert getattr(TrainingSettings(), name) != value
    assert (given.jobs, given.validation_instances, given.imitation_episodes, given.imitation_epochs) == (
        200,
        20,
        20,
        5,
    )
    assert (given.updates, given.episodes, given.trace_decay, given.value_weight) == (500, 8, 0.95, 0.5)
    assert (given.imitation_learning_rate, given.learning_rate, given.max_norm) == (1e-3, 3e-4, 0.5)
    assert (given.validate_every, given.num_agents, given.max_forwards, given.gamma) == (10, 4, 1, 0.99)
    assert given.entropy_weight(0) == 0.02
    assert given.entropy_weight(250) == pytest.approx(0.0105)
    assert given.entropy_weight(500) == pytest.approx(0.001)
    assert {given.rate(updates) for updates in (0, 250, 500)} == {3e-4}
    falling = TrainingSettings(updates=10, learning_rate=1e-3, learning_rate_end=2e-4)
    assert [falling.rate(updates) for updates in (0, 5, 10)] == pytest.approx([1e-3, 6e-4, 2e-4])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"chunk": 0}, "chunk: expected at least 1, got 0"),
        ({"updates": -1}, "updates: expected at least 0, got -1"),
        ({"gamma": 0.0}, "gamma: expected a number above 0, at most 1, got 0.0"),
        ({"trace_decay": 1.1}, "trace_decay: expected a number in 0..1, got 1.1"),
        ({"learning_rate": float("nan")}, "learning_rate: expected a finite number above 0, got nan"),
        ({"load": -1.0}, "load: expected a finite number of at least 0, got -1.0"),
        ({"speeds": "fast"}, "speeds: expected one of predicted, true, none, got 'fast'"),
        ({"variant": "deep"}, "variant: expected one of flat, inner, inner-outer, got 'deep'"),
        ({"durations": "guess"}, "durations: expected one of oracle, none, "),
        ({"cluster": "8xZZ"}, "cluster: expected servers, got '8xZZ': "),
        ({"same_instance": 3}, "same_instance: expected a divisor of episodes, 8, got 3"),
        ({"reward": "fast"}, "reward: expected one of jct, dl2, got 'fast'"),
        ({"clip": 0.0}, "clip: expected a finite number above 0, got 0.0"),
        ({"family": "jobs-poisson"}, "family: expected one of jobs-co-located, jobs-shared-gpus, got 'jobs-poisson'"),
    ],
)
def test_wrong_values(wrong: dict[str, Any], message: str) -> None:
    """Tests the message for a value out of range."""
    with pytest.raises(ValueError, match=message):
        TrainingSettings(**wrong)
