"""Tests of the deep network of critics and actors."""

from __future__ import annotations

from functools import partial

import jax
import numpy as np
import pytest

from heuristics.jobs.actor_critic.actor import deep_log_probabilities, directions
from heuristics.jobs.actor_critic.deep_network import (
    UNROLLED,
    DeepNetwork,
    Ends,
    outputs_of,
    random_network,
    unit,
    value_of,
)
from tests.heuristics.jobs.actor_critic.plain_deep import differences, plain_log_softmax, plain_outputs

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
