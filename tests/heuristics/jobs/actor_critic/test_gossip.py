"""Tests of gossip weights and rounds."""

from __future__ import annotations

import numpy as np
import pytest

from heuristics.jobs.actor_critic.gossip import (
    GOSSIP_GRAPHS,
    contraction,
    default_rounds,
    gossip_graph,
    gossip_operator,
    gossip_traffic,
    metropolis_weights,
    mix,
    random_weights,
)


def test_path_of_three() -> None:
    """Tests the worked example: weights, eigenvalues, two rounds from (3, 0, 0), and that the mean stays."""
    weights = metropolis_weights(gossip_graph("path", 3))
    assert 3 * weights == pytest.approx(np.array([[2, 1, 0], [1, 1, 1], [0, 1, 2]]))
    assert np.linalg.eigvalsh(weights) == pytest.approx([0, 2 / 3, 1], abs=1e-12)
    held = np.array([3.0, 0.0, 0.0], dtype=np.float32)
    assert np.asarray(mix(gossip_operator(weights, 1), held)) == pytest.approx([2, 1, 0])
    assert np.asarray(mix(gossip_operator(weights, 2), held)) == pytest.approx([5 / 3, 1, 1 / 3])
    assert np.asarray(mix(gossip_operator(weights, 0), held)).tolist() == held.tolist()
    assert np.asarray(mix(gossip_operator(weights, 200), held)) == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("name", GOSSIP_GRAPHS)
@pytest.mark.parametrize("agents", [1, 2, 3, 4, 9])
def test_metropolis_weights(name: str, agents: int) -> None:
    """Tests that weights are symmetric and doubly stochastic, positive on diagonal and edges and nowhere else."""
    edges = gossip_graph(name, agents)
    weights = metropolis_weights(edges)
    assert (weights == weights.T).all()
    assert weights.sum(axis=0) == pytest.approx(np.ones(agents))
    assert ((weights > 1e-12) == (edges | np.eye(agents, dtype=bool))).all()
    number = {"ring": agents if agents > 2 else agents - 1, "complete": agents * (agents - 1) // 2}
    assert edges.sum() == 2 * number.get(name, agents - 1)
    assert contraction(weights) < 1.0 - 1e-9


def test_rings() -> None:
    """Tests the stated contractions and default rounds of rings; two agents and one are special."""
    expected = {4: (1 / 3, 10), 8: (0.805, 11), 16: (0.949, 45)}
    for agents, (sigma, rounds) in expected.items():
        weights = metropolis_weights(gossip_graph("ring", agents))
        assert weights[weights > 0] == pytest.approx(np.full(3 * agents, 1 / 3))
        assert contraction(weights) == pytest.approx(sigma, abs=5e-4)
        assert np.sort(np.abs(np.linalg.eigvalsh(weights)))[-2] == pytest.approx(contraction(weights))
        assert default_rounds(weights) == rounds
        assert contraction(weights) ** rounds <= 0.1
    pair = metropolis_weights(gossip_graph("ring", 2))
    assert (pair.tolist(), default_rounds(pair)) == ([[0.5, 0.5], [0.5, 0.5]], 1)
    assert default_rounds(metropolis_weights(gossip_graph("ring", 1))) == 0
    assert default_rounds(np.full((5, 5), 0.2)) == 1


@pytest.mark.parametrize("name", GOSSIP_GRAPHS)
def test_random_weights(name: str) -> None:
    """Tests that random weights are doubly stochastic, keep to the edges, contract as said, and follow the seed."""
    edges = gossip_graph(name, 6)
    weights = random_weights(np.random.default_rng(3), edges)
    assert np.abs(np.concatenate([weights.sum(axis=0), weights.sum(axis=1)]) - 1).max() < 1e-9
    assert ((weights > 0) == (edges | np.eye(6, dtype=bool))).all()
    assert (weights == random_weights(np.random.default_rng(3), edges)).all()
    assert (weights != random_weights(np.random.default_rng(4), edges)).any()
    away = np.random.default_rng(0).normal(size=(6, 50))
    away -= away.mean(axis=0)
    ratio = np.linalg.norm(weights @ away, axis=0) / np.linalg.norm(away, axis=0)
    assert ratio.max() <= contraction(weights) < 1.0


def test_mix_takes_nests_of_arrays() -> None:
    """Tests that rounds on a nest of arrays are the rounds one after the other, and that exact averaging is a mean."""
    rng = np.random.default_rng(1)
    weights = random_weights(rng, gossip_graph("star", 4))
    held = {"a": rng.normal(size=(4, 3, 2)).astype(np.float32), "b": rng.normal(size=4).astype(np.float32)}
    mixed = mix(gossip_operator(weights, 3), held)
    averaged = mix(gossip_operator(np.full((4, 4), 0.25), 1), held)
    for name, array in held.items():
        rounds = array
        for _ in range(3):
            rounds = np.tensordot(weights, rounds, axes=1)
        assert np.asarray(mixed[name]) == pytest.approx(rounds, abs=1e-5)
        assert np.asarray(averaged[name]) == pytest.approx(np.broadcast_to(array.mean(axis=0), array.shape), abs=1e-6)


def test_traffic() -> None:
    """Tests the stated traffic: a ring of 4, 10 rounds, 80 messages of 49,152 bytes; without rounds none."""
    ring = metropolis_weights(gossip_graph("ring", 4))
    traffic = gossip_traffic(ring, 10, critic_size=3 * 64**2, signal_size=32)
    assert (traffic.critic_messages, traffic.critic_bytes) == (80, 80 * 49_152)
    assert traffic.critic_bytes == pytest.approx(3.93e6, rel=1e-3)
    assert (traffic.signal_messages, traffic.signal_bytes) == (80, 80 * 128)
    assert (traffic.messages, traffic.bytes) == (160, 80 * 49_280)
    assert gossip_traffic(ring, 0, critic_size=9, signal_size=9).bytes == 0
    assert gossip_traffic(np.ones((1, 1)), 5, critic_size=9, signal_size=9).messages == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gossip_graph("tree", 3), "graph: expected one of ring, complete, star, path, got 'tree'."),
        (lambda: gossip_graph("ring", 0), "num_agents: expected at least 1, got 0."),
        (lambda: contraction(np.ones((2, 3))), "weights: expected a square matrix, got shape (2, 3)."),
        (lambda: contraction([[2.0, -1.0], [-1.0, 2.0]]), "weights: expected no negative entries, got -1."),
        (
            lambda: contraction([[0.5, 0.5], [0.25, 0.75]]),
            "weights: expected rows and columns that sum to 1, got 0.75.",
        ),
        (
            lambda: default_rounds(np.eye(3)),
            "weights: expected a connected graph, got agents that never exchange messages.",
        ),
        (lambda: gossip_operator(np.eye(2), -1), "gossip_rounds: expected at least 0, got -1."),
    ],
)
def test_misuse(call: object, message: str) -> None:
    """Tests that broken weights and names are refused in one line."""
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == message
