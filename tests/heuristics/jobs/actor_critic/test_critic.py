"""Tests of the critics: Algorithm 2 and the worked example of one state."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from heuristics.jobs.actor_critic.actor import directions
from heuristics.jobs.actor_critic.actor_critic import SIGN, signals_of
from heuristics.jobs.actor_critic.critic import Transitions, critic_pass, td_errors, weight_gap
from heuristics.jobs.actor_critic.deep_network import Ends, random_network, unit
from heuristics.jobs.actor_critic.gossip import gossip_operator, mix
from heuristics.jobs.actor_critic.rollout import Rollout
from heuristics.jobs.actor_critic.settings import ActorCriticSettings
from tests.heuristics.jobs.actor_critic.plain_deep import plain_pass

STEPS, AGENTS, INPUTS = 5, 3, 4
PASS, ERRORS = jax.jit(critic_pass), jax.jit(td_errors)


def _batch(rng: np.random.Generator, reward: np.ndarray) -> Transitions:
    """Return random steps."""
    x, after = (np.asarray(unit(rng.normal(size=(STEPS, INPUTS)))).astype(np.float32) for _ in range(2))
    return Transitions(x, after, reward.astype(np.float32), np.linspace(0.0, 0.99, STEPS).astype(np.float32))


@pytest.mark.parametrize("radius", [0.05, 20.0])
def test_pass_is_algorithm_2(radius: float) -> None:
    """Tests weights and hits of a pass against a plain loop with finite differences; agents begin apart."""
    rng = np.random.default_rng(4)
    network = random_network(np.random.default_rng(9), inputs=INPUTS, width=4, depth=2)
    batch = _batch(rng, rng.normal(size=(STEPS, AGENTS)))
    layers = np.asarray(network.layers) + 0.01 * rng.normal(size=(AGENTS, 2, 4, 4)).astype(np.float32)
    found = PASS(network.ends, layers, network.layers, batch, beta=0.05, radius=radius)
    first, last, centre = (
        np.asarray(array, dtype=np.float64) for array in (network.ends.first, network.ends.last, network.layers)
    )
    hits = 0
    for agent in range(AGENTS):
        steps = [
            (
                *(np.asarray(part[k], dtype=np.float64) for part in (batch.x, batch.next_x)),
                float(batch.reward[k, agent]),
                float(batch.discount[k]),
            )
            for k in range(STEPS)
        ]
        mean, mine = plain_pass(first, last, layers[agent].astype(np.float64), centre, steps, 0.05, radius)
        assert np.asarray(found.mean)[agent] == pytest.approx(mean, abs=2e-5)
        assert np.abs(mean - layers[agent]).max() > 1e-3
        hits += mine
    assert float(found.hits) == pytest.approx(hits / (STEPS * AGENTS * 2))
    assert (hits > 0) == (radius < 1)


def test_shared_rewards_keep_critics_equal() -> None:
    """Tests that with one W(0) and one reward for all, critics stay equal for any rounds; local rewards part them."""
    rng = np.random.default_rng(0)
    network = random_network(np.random.default_rng(1), inputs=INPUTS, width=6, depth=2)
    layers = np.broadcast_to(np.asarray(network.layers), (AGENTS, 2, 6, 6))
    weights = np.array([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]])
    local = rng.normal(size=(STEPS, AGENTS))
    shared = np.repeat(local.mean(axis=1, keepdims=True), AGENTS, axis=1)
    gaps = {}
    gap_of = jax.jit(lambda operator, held: weight_gap(mix(operator, held)))
    for name, reward in (("local", local), ("shared", shared)):
        batch = _batch(np.random.default_rng(2), reward)
        learned = PASS(network.ends, layers, network.layers, batch, beta=0.05, radius=20.0)
        for rounds in (0, 1, 10, 40):
            gaps[name, rounds] = float(gap_of(gossip_operator(weights, rounds), learned.mean))
    assert all(gaps["shared", rounds] < 1e-5 for rounds in (0, 1, 10, 40))
    assert gaps["local", 0] > 1e-2
    assert gaps["local", 0] > gaps["local", 1] > 10 * gaps["local", 10]
    assert gaps["local", 40] < 1e-5


def test_weight_gap() -> None:
    """Tests the largest distance to the mean: (0, 0, 3) has mean 1 and so 2, here times the root of 8 weights."""
    layers = np.array([0.0, 0.0, 3.0], dtype=np.float32)[:, None, None, None] * np.ones((2, 2, 2), dtype=np.float32)
    assert float(weight_gap(layers)) == pytest.approx(2 * np.sqrt(8))


def _table(*values: float) -> tuple[Ends, np.ndarray]:
    """Return a network of one layer whose output for the i-th unit vector is the i-th value."""
    size = len(values)
    layers = np.sqrt(size) * np.eye(size)[None, None]
    return Ends(np.eye(size, dtype=np.float32), np.array([values], dtype=np.float32)), layers.astype(np.float32)


def test_one_state_from_exact_tables() -> None:
    """Tests the example: with exact Q the residual pushes nowhere; with V, and Q advantage, it is the gradient.

    One state, rewards 1 and 0, gamma 1/2, uniform policy. All (a, a') are equally likely, so that means over the four
    are expectations. The reward per step is p, whose derivative in the logits is p (1 - p) = 1/4.
    """
    action, after = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    reward, half = np.array([[1.0], [1.0], [0.0], [0.0]], dtype=np.float32), np.full(4, 0.5, dtype=np.float32)
    one_hot = np.eye(2, dtype=np.float32)
    q = Transitions(one_hot[action], one_hot[after], reward, half)
    others = np.broadcast_to(one_hot, (4, 2, 2))
    ends, layers = _table(1.5, 0.5)
    errors = ERRORS(ends, layers, q)
    assert np.asarray(errors)[:, 0] == pytest.approx([0.25, -0.25, 0.25, -0.25])
    acted = Rollout(np.ones((4, 1)), action[:, None], q, others, reward[:, 0])

    def pushed(signal: str, sign: str, ends: Ends, layers: np.ndarray, errors: jax.Array) -> np.ndarray:
        """Return the direction of the only agent, whose weights are its two logits."""
        settings = ActorCriticSettings(signal=signal, sign=sign)
        logits = np.zeros((1, 2), dtype=np.float32)

        @jax.jit
        def push(ends: Ends, layers: np.ndarray, errors: jax.Array) -> jax.Array:
            """Return the direction of all agents."""
            signals = signals_of(settings, ends, layers, acted, errors, SIGN[settings.sign])
            return directions(lambda one, a: jax.nn.log_softmax(one)[a], logits, action[:, None], signals)

        return np.asarray(push(ends, layers, errors))[0]

    assert pushed("q_residual", "printed", ends, layers, errors) == pytest.approx([0, 0], abs=1e-7)
    assert pushed("q_residual", "repaired", ends, layers, errors) == pytest.approx([0, 0], abs=1e-7)
    assert pushed("q_advantage", "repaired", ends, layers, errors) == pytest.approx([0.25, -0.25])
    assert pushed("q_value", "printed", ends, layers, errors) == pytest.approx([0.25, -0.25])
    ends, layers = _table(1.0, 0.0)
    state = np.broadcast_to(one_hot[0], (4, 2))
    errors = ERRORS(ends, layers, Transitions(state, state, reward, half))
    assert np.asarray(errors)[:, 0] == pytest.approx([0.5, 0.5, -0.5, -0.5])
    assert pushed("v", "repaired", ends, layers, errors) == pytest.approx([0.25, -0.25])
    blank = ERRORS(*_table(0.0, 0.0), q)
    assert pushed("q_residual", "printed", *_table(0.0, 0.0), blank) == pytest.approx([-0.25, 0.25])
    assert pushed("q_residual", "repaired", *_table(0.0, 0.0), blank) == pytest.approx([0.25, -0.25])
