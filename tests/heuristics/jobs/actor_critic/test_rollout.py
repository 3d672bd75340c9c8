"""Tests of steps, restarts and draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from heuristics.jobs.actor_critic.deep_network import unit
from heuristics.jobs.actor_critic.rollout import Place, Rollout, drawn, numbers_per_step, roll_out
from heuristics.jobs.actor_critic.settings import REPAIRED, ActorCriticSettings

ADVANCE, STATES = 0.7, 4
"""Probability of going on along a line whose last state is for ever, and its length."""


@dataclass(frozen=True)
class Line:
    """Two agents on a line of states 0..3; from s_0 = 0 a step goes on with probability 0.7, whatever they do."""

    num_agents: int = 2
    num_actions: int = 3
    num_features: int = STATES
    start_numbers: int = 1
    step_numbers: int = 1

    def start(self, uniforms: jax.Array) -> jax.Array:
        """Return state 0."""
        return jnp.zeros_like(uniforms[0], dtype=jnp.int32)

    def step(self, state: jax.Array, actions: jax.Array, uniforms: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Go on or stay; agents get the state they reach and what they did."""
        reached = jnp.minimum(state + (uniforms[0] < ADVANCE), STATES - 1)
        return reached, jnp.array([reached, actions[1]], dtype=jnp.float32)

    def features(self, state: jax.Array) -> jax.Array:
        """Return the state, one-hot."""
        return jax.nn.one_hot(state, STATES)

    def team_reward(self, rewards: jax.Array) -> jax.Array:
        """Return the sum."""
        return rewards.sum(axis=-1)


def _log_probabilities(logits: jax.Array, observation: jax.Array) -> jax.Array:
    """Return those of fixed logits."""
    return jax.nn.log_softmax(logits) + 0.0 * observation.sum()


LOGITS = np.log(np.array([[0.5, 0.3, 0.2], [0.1, 0.0001, 0.8999]], dtype=np.float32))


def _steps(settings: ActorCriticSettings, steps: int, seed: int = 0) -> Rollout:
    """Roll out on the line."""
    line = Line()
    begin = Place(jnp.int32(0), jnp.int32(0))
    shape = (steps, numbers_per_step(line, settings))
    uniforms = np.random.default_rng(seed).random(shape, dtype=np.float32)
    roll = jax.jit(partial(roll_out, line, settings, _log_probabilities))
    return jax.tree.map(np.asarray, roll(LOGITS, begin, uniforms)[1])


def test_restart_kernel_visits_discounted_states() -> None:
    """Tests that states under the kernel are distributed as (1 - gamma) sum of gamma^t times P(s_t) from s_0."""
    gamma, steps = 0.8, 60_000
    rollout = _steps(replace(REPAIRED, restart="kernel", gamma=gamma), steps)
    chain = np.diag([1 - ADVANCE] * (STATES - 1) + [1.0]) + ADVANCE * np.eye(STATES, k=1)
    start = np.eye(STATES)[0]
    expected = (1 - gamma) * np.linalg.solve(np.eye(STATES) - gamma * chain.T, start)
    kernel = gamma * chain + (1 - gamma) * start
    assert expected @ kernel == pytest.approx(expected)
    share = rollout.observation.mean(axis=0)
    assert share == pytest.approx(expected, abs=0.015)
    assert expected.min() > 0.1


@pytest.mark.parametrize("signal", ["v", "q_residual"])
def test_target_is_the_state_reached_or_the_next_start(signal: str) -> None:
    """Tests that restarts enter the target as printed, and not as repaired; steps themselves are the same."""
    settings = replace(REPAIRED, restart="episode", episode_steps=3, signal=signal)
    true, restarted = (_steps(replace(settings, target=target), 12) for target in ("true", "restarted"))
    assert (true.actions == restarted.actions).all()
    states = true.observation.argmax(axis=1)
    assert states[::3].tolist() == [0] * 4
    reached = true.transitions.reward[:, 0].astype(int)
    following = np.append(states[1:], 0)
    assert (reached != following).any()
    assert (np.delete(reached, [2, 5, 8, 11]) == np.delete(following, [2, 5, 8, 11])).all()
    seen = {name: one.transitions.next_x[:, :STATES].argmax(axis=1) for name, one in (("t", true), ("r", restarted))}
    assert seen["t"].tolist() == reached.tolist()
    assert seen["r"].tolist() == following.tolist()


def test_inputs_of_critics() -> None:
    """Tests that a Q critic sees state and joint action with norm 1, others too, a V critic the state."""
    rollout = _steps(replace(REPAIRED, signal="q_advantage", advantage_samples=2), 50)
    one_hot = np.eye(3)[rollout.actions].reshape(50, 6)
    expected = np.asarray(unit(np.hstack([rollout.observation, one_hot])))
    assert rollout.transitions.x == pytest.approx(expected, abs=1e-6)
    assert rollout.others.shape == (50, 2, 10)
    assert (np.argmax(rollout.others[..., :4], axis=-1) == rollout.observation.argmax(axis=1)[:, None]).all()
    assert np.linalg.norm(rollout.others, axis=-1) == pytest.approx(np.ones((50, 2)), abs=1e-5)
    plain = _steps(REPAIRED, 50)
    assert plain.transitions.x == pytest.approx(plain.observation)
    assert plain.others.shape[1] == 0


def test_rewards_are_shifted_for_agents_only() -> None:
    """Tests that the shift reaches what agents get and leaves alone what is reported; discounts are gamma."""
    plain, shifted = _steps(REPAIRED, 20), _steps(replace(REPAIRED, reward_shift=1.5), 20)
    assert shifted.transitions.reward == pytest.approx(plain.transitions.reward + 1.5)
    assert (shifted.team_reward == plain.team_reward).all()
    assert plain.team_reward == pytest.approx(plain.transitions.reward.sum(axis=1))
    assert plain.transitions.discount == pytest.approx(np.full(20, REPAIRED.gamma))


def test_draws_follow_the_policy() -> None:
    """Tests the shares of drawn actions, the ends of the numbers, and that probability 0 is never drawn."""
    rollout = _steps(REPAIRED, 20_000)
    for agent in range(2):
        share = np.bincount(rollout.actions[:, agent], minlength=3) / 20_000
        assert share == pytest.approx(np.exp(LOGITS[agent]), abs=0.012)
    masked = jnp.log(jnp.array([0.0, 0.25, 0.75, 0.0]))
    numbers = np.array([0.0, 0.2499, 0.2501, 1 - 2**-24], dtype=np.float32)
    assert [int(drawn(masked, number)) for number in numbers] == [1, 1, 2, 2]
    rounded = jnp.log(jnp.array([0.5, 0.4999, 0.0]))
    assert int(drawn(rounded, numbers[-1])) == 1
