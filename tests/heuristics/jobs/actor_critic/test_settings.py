"""Tests of the settings and what they do to actors."""

from __future__ import annotations

from dataclasses import replace

import jax
import numpy as np
import pytest

from heuristics.jobs.actor_critic.actor import actor_update
from heuristics.jobs.actor_critic.settings import PRINTED, REPAIRED, ActorCriticSettings


def test_presets() -> None:
    """Tests that the presets differ in every repaired defect and that the printed one has the printed numbers."""
    assert (PRINTED.iterations, PRINTED.critic_steps, PRINTED.actor_steps, PRINTED.gamma) == (20_000, 1, 1, 0.99)
    assert (PRINTED.width, PRINTED.depth, PRINTED.gossip_rounds) == (20, 5, 10)
    assert (PRINTED.alpha, PRINTED.beta, PRINTED.last_scale) == (0.005, 0.001, 1.0)
    assert (PRINTED.signal, PRINTED.sign, PRINTED.warm_start, PRINTED.target) == (
        "q_residual", "printed", False, "restarted",
    )  # fmt: skip
    assert (REPAIRED.signal, REPAIRED.sign, REPAIRED.warm_start, REPAIRED.target) == ("v", "repaired", True, "true")
    assert (REPAIRED.actor_steps, REPAIRED.last_scale, REPAIRED.radius) == (10, 0.1, 20.0)
    assert ActorCriticSettings() == REPAIRED
    assert (PRINTED.num_steps, REPAIRED.num_steps) == (40_000, 40_000)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"signal": "q"}, "signal: expected one of q_residual, q_value, q_advantage, v, got 'q'."),
        ({"restart": "never"}, "restart: expected one of kernel, episode, got 'never'."),
        ({"update": "sgd"}, "update: expected one of normalised, plain, adam, got 'sgd'."),
        ({"critic_steps": 0}, "critic_steps: expected at least 1, got 0."),
        ({"gossip_rounds": -1}, "gossip_rounds: expected at least 0, got -1."),
        ({"gamma": 1.5}, "gamma: expected a number in 0..1, got 1.5."),
        ({"beta": 0.0}, "beta: expected a finite number above 0, got 0.0."),
        ({"alpha": float("nan")}, "alpha: expected a finite number above 0, got nan."),
        ({"reward_shift": float("inf")}, "reward_shift: expected a finite number, got inf."),
        ({"sign": "printed"}, "sign: expected repaired with signal v, which is not printed, got 'printed'."),
    ],
)
def test_misuse(changes: dict[str, object], message: str) -> None:
    """Tests that names and numbers out of range are refused."""
    with pytest.raises(ValueError) as caught:
        replace(REPAIRED, **changes)
    assert str(caught.value) == message


def _changes(settings: ActorCriticSettings, direction: np.ndarray, times: int) -> list[np.ndarray]:
    """Return the changes that the same direction makes several times."""
    rule = actor_update(settings, settings.alpha)
    weights = {"a": np.zeros(2, dtype=np.float32), "b": np.zeros((1, 1), dtype=np.float32)}
    state, found = rule.init(weights), []
    step = jax.jit(rule.update)
    for _ in range(times):
        change, state = step({"a": direction[:2], "b": direction[2:, None]}, state, weights)
        found.append(np.append(change["a"], change["b"]))
    return found


@pytest.mark.whole
def test_updates_of_actors() -> None:
    """Tests that steps go uphill: with length alpha, alpha / (t + 1), as long as the direction, and Adam's."""
    direction = np.array([2.0, -3.0, 6.0], dtype=np.float32)
    settings = replace(REPAIRED, alpha=0.1)
    for change in _changes(settings, direction, 3):
        assert change == pytest.approx(0.1 * direction / 7, rel=1e-5)
    harmonic = _changes(replace(settings, alpha_schedule="harmonic"), direction, 3)
    for t, change in enumerate(harmonic):
        assert change == pytest.approx(0.1 / (t + 1) * direction / 7, rel=1e-5)
    assert _changes(replace(settings, update="plain"), direction, 1)[0] == pytest.approx(0.1 * direction, rel=1e-5)
    for change in _changes(replace(settings, update="adam"), direction, 2):
        assert change == pytest.approx(0.1 * np.sign(direction), rel=1e-4)
    assert _changes(settings, np.zeros(3, dtype=np.float32), 1)[0].tolist() == [0.0, 0.0, 0.0]
