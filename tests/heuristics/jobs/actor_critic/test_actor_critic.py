"""Tests of Algorithm 1: what is learned, by whom, and that it can be repeated."""

from __future__ import annotations

from dataclasses import replace

import jax
import numpy as np
import pytest

from heuristics.jobs.actor_critic.actor_critic import TrainingRuns, actor_critic
from heuristics.jobs.actor_critic.gossip import averaging_weights
from heuristics.jobs.actor_critic.settings import REPAIRED
from heuristics.jobs.actor_critic.simple_spread import SimpleSpread

SMALL = SimpleSpread(landmarks=((1, 0), (7, 2)), width=9, height=3)
WEIGHTS = np.array([[0.7, 0.3], [0.3, 0.7]])
REPAIRED_SMALL = replace(REPAIRED, iterations=1500, width=10, depth=2, beta=0.02, alpha=0.1)
PRINTED_SMALL = replace(REPAIRED_SMALL, signal="q_residual", sign="printed", warm_start=False, target="restarted")
SEEDS = tuple(range(16))
SHORT = replace(REPAIRED_SMALL, iterations=20)


def _rise(runs: TrainingRuns) -> np.ndarray:
    """Return by how much the team's reward per step rose from the first 2.5 % to the last 10 %."""
    reward = runs.curves.team_reward
    return reward[:, -150:].mean(axis=1) - reward[:, :37].mean(axis=1)


@pytest.fixture(scope="module")
def repaired() -> TrainingRuns:
    """Return the training with all repairs."""
    return actor_critic(SMALL, REPAIRED_SMALL, WEIGHTS, seeds=SEEDS)


def test_repaired_learns_and_printed_does_not(repaired: TrainingRuns) -> None:
    """Tests 16 seeds: rewards per step rise by about 2 as repaired, and do not rise as printed.

    The standard error of either mean is about 0.2.
    """
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


def test_seeds_gossip_and_bytes(repaired: TrainingRuns) -> None:
    """Tests that seeds repeat bit for bit, and that gossip brings critics of local rewards together."""
    again = actor_critic(SMALL, REPAIRED_SMALL, WEIGHTS, seeds=SEEDS)
    for one, other in zip(jax.tree.leaves(_learned(repaired)), jax.tree.leaves(_learned(again)), strict=True):
        assert one.tobytes() == other.tobytes()
    assert repaired.seeds == SEEDS
    assert (repaired.critics[0] != repaired.critics[1]).any()
    assert repaired.critics.shape == (16, 2, 2, 10, 10)
    apart = actor_critic(SMALL, replace(REPAIRED_SMALL, gossip_rounds=0), WEIGHTS, seeds=SEEDS)
    exact = actor_critic(SMALL, replace(REPAIRED_SMALL, gossip_rounds=1), averaging_weights(2), seeds=SEEDS)
    end = apart.curves.weight_gap[:, -1:]
    assert np.median(end) > 0.1
    assert repaired.curves.weight_gap.max() < 1e-3 * np.median(end)
    assert exact.curves.weight_gap.max() < 1e-5
    assert (apart.traffic.messages, exact.traffic.messages, repaired.traffic.messages) == (0, 4, 40)
    assert repaired.traffic.critic_bytes == 20 * 4 * 2 * 10 * 10
    assert repaired.traffic.signal_bytes == 20 * 4 * 10


def _learned(runs: TrainingRuns) -> tuple:
    """Return all that a training returns in arrays."""
    return (runs.curves, runs.critic_ends, runs.critics, runs.actors)


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
