"""Tests of the critics: Algorithm 2 and the worked example of one state."""

from __future__ import annotations

from functools import partial

import jax
import numpy as np
import pytest

from heuristics.jobs.actor_critic.actor import deep_log_probabilities, directions
from heuristics.jobs.actor_critic.critic import (
    UNROLLED,
    DeepNetwork,
    Ends,
    Transitions,
    critic_pass,
    outputs_of,
    project,
    random_network,
    td_errors,
    unit,
    value_of,
    weight_gap,
)
from heuristics.jobs.actor_critic.gossip import gossip_operator, mix
from heuristics.jobs.actor_critic.settings import ActorCriticSettings
from heuristics.jobs.actor_critic.train import SIGN, Rollout, signals_of
from tests.heuristics.jobs.actor_critic.plain_deep import differences, plain_log_softmax, plain_outputs, plain_pass

pytestmark = pytest.mark.whole

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


SIZE = {"inputs": 3, "width": 4, "depth": 2}


def _double(network: DeepNetwork) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return H, W and b in double precision."""
    arrays = (network.ends.first, network.layers, network.ends.last)
    return tuple(np.asarray(array, dtype=np.float64) for array in arrays)


@pytest.mark.parametrize("depth", [1, 2, UNROLLED + 1])
def test_outputs_are_those_of_the_formula(depth: int) -> None:
    """Tests outputs against plain NumPy, with and without a loop over the layers."""
    network = random_network(np.random.default_rng(5), inputs=3, width=24, depth=depth, outputs=2)
    x = np.array([0.6, -0.8, 0.0])
    first, layers, last = _double(network)
    expected = plain_outputs(first, layers, last, x)
    assert np.abs(expected).max() > 0.05
    assert np.asarray(jax.jit(outputs_of)(network.ends, network.layers, x)) == pytest.approx(
        expected, rel=1e-4, abs=1e-5
    )


def test_critic_gradient() -> None:
    """Tests the gradient of a critic in W against finite differences."""
    network = random_network(np.random.default_rng(2), **SIZE)
    x = np.asarray(unit(np.array([1.0, -2.0, 0.5])), dtype=np.float64)
    first, layers, last = _double(network)
    expected = differences(lambda weights: plain_outputs(first, weights, last, x)[0], layers)
    assert np.abs(expected).max() > 0.1
    found = jax.jit(jax.grad(value_of, argnums=1))(network.ends, network.layers, x)
    assert np.asarray(found) == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_directions_of_actors() -> None:
    """Tests d_i = mean of signal times grad log pi_i, in H, W and b, for two agents against finite differences."""
    rng = np.random.default_rng(0)
    agents = [random_network(np.random.default_rng(seed), **SIZE, outputs=3, last_scale=0.5) for seed in (7, 8)]
    actors = jax.tree.map(lambda *arrays: np.stack(arrays), *agents)
    x = np.asarray(unit(rng.normal(size=(4, 3))), dtype=np.float64)
    actions, signals = rng.integers(3, size=(4, 2)), rng.normal(size=(4, 2))
    push = jax.jit(partial(directions, lambda one, step: deep_log_probabilities(one, step[0])[step[1]]))
    found = push(
        actors,
        (np.repeat(x[:, None], 2, axis=1).astype(np.float32), actions),
        signals.astype(np.float32),
    )
    for agent, network in enumerate(agents):
        parts = list(_double(network))

        def weighted(part: np.ndarray, index: int, parts: list = parts, agent: int = agent) -> float:
            """Return the mean of signal times log pi with one part replaced."""
            used = [*parts[:index], part, *parts[index + 1 :]]
            logs = [plain_log_softmax(plain_outputs(*used, x[step]))[actions[step, agent]] for step in range(len(x))]
            return float(np.mean(signals[:, agent] * logs))

        for index, gradient in enumerate((found.ends.first, found.layers, found.ends.last)):
            expected = differences(lambda part, index=index: weighted(part, index), parts[index])
            assert np.abs(expected).max() > 0.01
            assert np.asarray(gradient)[agent] == pytest.approx(expected, rel=2e-3, abs=2e-5)


def test_initial_weights() -> None:
    """Tests variances, sizes, and that layers keep norms; the scale reaches b alone; a small b is nearly uniform."""
    network = random_network(np.random.default_rng(0), inputs=40, width=200, depth=3, outputs=5)
    first, layers, last = _double(network)
    assert (first.shape, layers.shape, last.shape) == ((200, 40), (3, 200, 200), (5, 200))
    assert first.var() == pytest.approx(2.0, rel=0.1)
    assert layers.var() == pytest.approx(2.0, rel=0.02)
    assert last.var() == pytest.approx(1.0, rel=0.2)
    x = np.full(40, 40**-0.5)
    hidden = first @ x
    for layer in layers:
        before, hidden = np.linalg.norm(hidden), np.maximum(layer @ hidden, 0) / np.sqrt(200)
        assert np.linalg.norm(hidden) / before == pytest.approx(1.0, abs=0.3)
    small = random_network(np.random.default_rng(0), inputs=40, width=200, depth=3, outputs=5, last_scale=0.1)
    assert np.asarray(small.ends.last) == pytest.approx(0.1 * last, rel=1e-6)
    assert (np.asarray(small.layers) == layers.astype(np.float32)).all()
    assert network.layers.dtype == np.float32


def test_probabilities_sum_to_one() -> None:
    """Tests that an actor's probabilities sum to 1 and that inputs are scaled to norm 1, zeros left alone."""
    actor = random_network(np.random.default_rng(3), **SIZE, outputs=5)
    assert np.exp(deep_log_probabilities(actor, np.ones(3) / np.sqrt(3))).sum() == pytest.approx(1.0, abs=1e-5)
    assert np.asarray(unit(np.array([[3.0, 4.0], [0.0, 0.0]]))) == pytest.approx(np.array([[0.6, 0.8], [0.0, 0.0]]))


def test_ends_come_first() -> None:
    """Tests that a network is its ends and its layers, as gossip and projection take it apart."""
    network = random_network(np.random.default_rng(1), **SIZE)
    assert isinstance(network.ends, Ends)
    sizes = [array.size for array in jax.tree.leaves(network)]
    assert sum(sizes) == 4 * (2 * 4 + 3 + 1)


def test_projection_layer_by_layer() -> None:
    """Tests the worked example: a difference of norm 5 with B = 2 is scaled by 0.4, one of norm 2 is left alone."""
    centre = np.random.default_rng(0).normal(size=(3, 2, 2)).astype(np.float32)
    difference = np.zeros((3, 2, 2), dtype=np.float32)
    difference[0] = [[3.0, 0.0], [0.0, 4.0]]
    difference[1, 1, 0] = 1.99
    layers = centre + difference
    projected, outside = (np.asarray(part) for part in project(layers, centre, 2.0))
    assert outside.tolist() == [True, False, False]
    assert projected[0] == pytest.approx(centre[0] + 0.4 * difference[0], abs=1e-5)
    assert (projected[1:] == layers[1:]).all()
    assert np.linalg.norm(projected[0] - centre[0]) == pytest.approx(2.0, abs=1e-5)


def test_projection_of_many_agents() -> None:
    """Tests that agents share the centre, that nothing ends beyond B, and that a second projection changes little."""
    rng = np.random.default_rng(1)
    centre = rng.normal(size=(2, 4, 4)).astype(np.float32)
    layers = centre + rng.normal(size=(5, 2, 4, 4)).astype(np.float32) * np.linspace(0.1, 2, 5)[:, None, None, None]
    projected, outside = project(layers.astype(np.float32), centre, 3.0)
    norms = np.linalg.norm(np.asarray(projected) - centre, axis=(2, 3))
    assert norms.max() <= 3.0 + 1e-4
    assert (np.asarray(outside) == (np.linalg.norm(layers - centre, axis=(2, 3)) > 3.0)).all()
    assert 0 < np.asarray(outside).sum() < 10
    again, _ = project(projected, centre, 3.0)
    assert np.asarray(again) == pytest.approx(np.asarray(projected), abs=1e-5)
