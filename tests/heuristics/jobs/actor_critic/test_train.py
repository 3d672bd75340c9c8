"""Tests of Algorithm 1: what is learned, by whom, and that it can be repeated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from heuristics.jobs.actor_critic.critic import unit
from heuristics.jobs.actor_critic.settings import REPAIRED, ActorCriticSettings
from heuristics.jobs.actor_critic.train import (
    Place,
    Rollout,
    TrainingRuns,
    actor_critic,
    drawn,
    numbers_per_step,
    roll_out,
)
from studies.papers.simple_spread import SimpleSpread

pytestmark = pytest.mark.whole

SMALL = SimpleSpread(landmarks=((1, 0), (7, 2)), width=9, height=3)
WEIGHTS = np.array([[0.7, 0.3], [0.3, 0.7]])
REPAIRED_SMALL = replace(REPAIRED, iterations=1500, width=10, depth=2, beta=0.02, alpha=0.1)
PRINTED_SMALL = replace(REPAIRED_SMALL, signal="q_residual", sign="printed", warm_start=False, target="restarted")
SEEDS = tuple(range(16))
FEW = SEEDS[:8]
SHORT = replace(REPAIRED_SMALL, iterations=20)
HEARD = replace(REPAIRED_SMALL, signal="q_residual", warm_start=False, iterations=300, gamma=0.5, reward_shift=25.0)
LOUD = replace(SMALL, reward_scale=0.1)


def _rise(runs: TrainingRuns) -> np.ndarray:
    """Return by how much the team's reward per step rose from the first 2.5 % to the last 10 %."""
    reward = runs.curves.team_reward
    return reward[:, -150:].mean(axis=1) - reward[:, :37].mean(axis=1)


@pytest.mark.slow
def test_repaired_learns_and_printed_does_not() -> None:
    """Tests 16 seeds: rewards per step rise by about 2 as repaired, and do not rise as printed.

    The standard error of either mean is about 0.2.
    """
    repaired = actor_critic(SMALL, REPAIRED_SMALL, WEIGHTS, seeds=SEEDS)
    printed = actor_critic(SMALL, PRINTED_SMALL, WEIGHTS, seeds=SEEDS)
    assert _rise(repaired).mean() > 1.2
    assert np.median(_rise(repaired)) > 1.0
    assert _rise(printed).mean() < 0.4
    last = [runs.curves.team_reward[:, -150:].mean() for runs in (repaired, printed)]
    assert last[0] - last[1] > 1.2
    assert repaired.curves.direction_norm.shape == (16, 1500, 2)
    assert np.isfinite(repaired.curves.direction_norm).all()
    assert (repaired.curves.direction_norm > 0).mean() > 0.9
    assert repaired.curves.team_reward.max() <= 0.0


@pytest.mark.slow
def test_seeds_gossip_and_bytes() -> None:
    """Tests that seeds repeat bit for bit, and that gossip brings critics of local rewards together."""
    settings = replace(REPAIRED_SMALL, iterations=200)
    repaired, again = (actor_critic(SMALL, settings, WEIGHTS, seeds=FEW) for _ in range(2))
    for one, other in zip(jax.tree.leaves(_learned(repaired)), jax.tree.leaves(_learned(again)), strict=True):
        assert one.tobytes() == other.tobytes()
    assert repaired.seeds == FEW
    assert (repaired.critics[0] != repaired.critics[1]).any()
    assert repaired.critics.shape == (8, 2, 2, 10, 10)
    apart = actor_critic(SMALL, replace(settings, gossip_rounds=0), WEIGHTS, seeds=FEW)
    exact = actor_critic(SMALL, replace(settings, gossip_rounds=1), np.full((2, 2), 0.5), seeds=FEW)
    end = apart.curves.weight_gap[:, -1:]
    assert np.median(end) > 0.1
    assert repaired.curves.weight_gap.max() < 1e-3 * np.median(end)
    assert exact.curves.weight_gap.max() < 1e-5
    assert (apart.traffic.messages, exact.traffic.messages, repaired.traffic.messages) == (0, 4, 40)
    assert repaired.traffic.critic_bytes == 20 * 4 * 2 * 10 * 10
    assert repaired.traffic.signal_bytes == 20 * 4 * 10


def _change(runs: TrainingRuns) -> np.ndarray:
    """Return the same over the first 2.5 % and the last 10 % of 300 iterations, and its standard error."""
    reward = runs.curves.team_reward
    rise = reward[:, -30:].mean(axis=1) - reward[:, :8].mean(axis=1)
    return np.array([rise.mean(), rise.std(ddof=1) / np.sqrt(len(rise))])


@pytest.fixture(scope="module")
def printed() -> TrainingRuns:
    """Return a short training with the printed sign."""
    return actor_critic(LOUD, replace(HEARD, sign="printed"), WEIGHTS, seeds=FEW)


@pytest.mark.slow
def test_printed_sign_descends(printed: TrainingRuns) -> None:
    """Tests that the reward falls with the printed sign and rises with the other one, by more than two errors.

    Rewards are large beside what an untrained critic says, and centred: minus the printed residual is about r then.
    From a policy that was trained, too, the printed sign falls; the two signs are one program.
    """
    minus = actor_critic(LOUD, replace(HEARD, sign="repaired"), WEIGHTS, seeds=FEW)
    fall, rise = _change(printed), _change(minus)
    assert fall[0] < -2 * fall[1]
    assert rise[0] > 2 * rise[1]
    assert fall[0] < -0.5 < 0.5 < rise[0]
    assert (printed.curves.direction_norm[:, 0] == minus.curves.direction_norm[:, 0]).all()
    again = actor_critic(LOUD, replace(HEARD, sign="printed"), WEIGHTS, seeds=FEW, actors=minus.actors)
    from_trained = _change(again)
    assert from_trained[0] < -2 * from_trained[1]
    first = again.curves.team_reward[:, :8].mean() - printed.curves.team_reward[:, :8].mean()
    assert first > 0.5


@dataclass(frozen=True)
class Bandit:
    """One state, two agents; only the first is ever paid, 1000 for action 0."""

    num_agents: int = 2
    num_actions: int = 2
    num_features: int = 1
    start_numbers: int = 0
    step_numbers: int = 0

    def start(self, uniforms: jax.Array) -> jax.Array:
        """Return the state."""
        del uniforms
        return jnp.int32(0)

    def step(self, state: jax.Array, actions: jax.Array, uniforms: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Pay."""
        del uniforms
        return state, jnp.array([1000.0, 0.0]) * (actions[0] == 0)

    def features(self, state: jax.Array) -> jax.Array:
        """Return a constant."""
        return jnp.ones(1) + 0 * state

    def team_reward(self, rewards: jax.Array) -> jax.Array:
        """Return the sum."""
        return rewards.sum(axis=-1)


@pytest.mark.slow
def test_gossip_carries_signals() -> None:
    """Tests that an agent that is never paid moves by what the other gets, if they gossip, and hardly otherwise."""
    settings = replace(SHORT, iterations=3, beta=1e-9, update="plain", alpha=1e-9)
    apart, mixed = (
        actor_critic(Bandit(), replace(settings, gossip_rounds=rounds), np.full((2, 2), 0.5), seeds=range(8))
        for rounds in (0, 1)
    )
    moves = [np.median(runs.curves.direction_norm, axis=(0, 1)) for runs in (apart, mixed)]
    assert moves[1][1] > 20 * moves[0][1]
    assert moves[1][0] == pytest.approx(0.5 * moves[0][0], rel=0.05)
    assert mixed.curves.team_reward.mean() == pytest.approx(500.0, abs=100.0)


@pytest.mark.slow
def test_actors_that_training_begins_with() -> None:
    """Tests that given actors take the place of drawn ones and nothing else changes; wrong shapes are refused."""
    settings = replace(HEARD, sign="printed", iterations=20)
    drawn = actor_critic(LOUD, settings, WEIGHTS, seeds=FEW)
    swapped = jax.tree.map(lambda array: array[::-1], drawn.actors)
    given = actor_critic(LOUD, settings, WEIGHTS, seeds=FEW, actors=drawn.actors)
    other = actor_critic(LOUD, settings, WEIGHTS, seeds=FEW, actors=swapped)
    assert (given.critic_ends.first == drawn.critic_ends.first).all()
    assert (given.curves.direction_norm[:, 0] != drawn.curves.direction_norm[:, 0]).all()
    assert (given.curves.direction_norm[:, 0] != other.curves.direction_norm[:, 0]).all()
    expected = r"^actors: expected weights of shape \(2, 2, 10, 5\), got \(1, 2, 10, 5\)\.$"
    with pytest.raises(ValueError, match=expected):
        actor_critic(SMALL, SHORT, WEIGHTS, seeds=(5, 6), actors=jax.tree.map(lambda array: array[:1], drawn.actors))


def _learned(runs: TrainingRuns) -> tuple:
    """Return all that a training returns in arrays."""
    return (runs.curves, runs.critic_ends, runs.critics, runs.actors)


@pytest.mark.slow
def test_gossip_is_vacuous_with_a_shared_reward() -> None:
    """Tests that the team's reward to all keeps all critics equal whatever the rounds, in every iteration."""
    shared = replace(SMALL, local_rewards=False)
    for rounds in (0, 3):
        runs = actor_critic(shared, replace(SHORT, gossip_rounds=rounds), WEIGHTS, seeds=(3, 4))
        assert runs.curves.weight_gap.max() < 1e-4
        assert np.abs(runs.critics[:, 0] - runs.critics[:, 1]).max() < 1e-4
        moved = np.abs(runs.critics - runs.critics[:1]).max()
        assert moved > 0.1
        assert (runs.actors.layers[:, 0] != runs.actors.layers[:, 1]).any()


def test_misuse() -> None:
    """Tests that weights of another number of agents and no seeds are refused."""
    with pytest.raises(ValueError, match=r"^weights: expected a row for each of 2 agents, got shape \(3, 3\)\.$"):
        actor_critic(SMALL, SHORT, np.eye(3), seeds=(0,))
    with pytest.raises(ValueError, match=r"^seeds: expected at least one, got none\.$"):
        actor_critic(SMALL, SHORT, WEIGHTS, seeds=())


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
