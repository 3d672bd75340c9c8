"""Tests what critics learn and gossip: the worked numbers, and where gossip acts and where it cannot."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from heuristics.jobs.actor_critic.critic import Transitions, critic_pass
from heuristics.jobs.actor_critic.deep_network import random_network, unit, value_of
from heuristics.jobs.actor_critic.gossip import averaging_weights
from heuristics.jobs.actor_critic.linear_critic import linear_critic, linear_value_of
from heuristics.jobs.marl.gossip.gossip_critics import GossipCritics, Lesson
from heuristics.jobs.marl.gossip.gossip_settings import GossipSettings
from heuristics.jobs.marl.gossip.round_walk import transitions_of
from heuristics.jobs.marl.gossip.training_traffic import training_traffic
from tests.heuristics.jobs.marl.gossip.played import played
from tests.heuristics.jobs.marl.gossip.tiny_gossip import tiny_gossip


def _lesson(settings: GossipSettings, lessons: int = 1) -> tuple[GossipCritics, Lesson]:
    """Return critics after some lessons, the same rounds for all settings, and the last lesson."""
    rounds = settings.critic_steps + settings.actor_steps
    walked = played(tiny_gossip(rewards=settings.rewards), [rounds * lessons])
    critics = GossipCritics(settings, np.random.default_rng(8))
    for number in range(lessons):
        lesson = critics.learn(transitions_of(walked[number * rounds : (number + 1) * rounds]))
    return critics, lesson


def _norm(away: np.ndarray) -> float:
    """Return the distance to the mean over agents, of all weights together."""
    return float(np.linalg.norm(away - away.mean(axis=0)))


def test_worked_numbers() -> None:
    """Tests the stated defaults: exchanges for rings of 4, 8, 16, 2 and 1 agents, and 3.93 MB per update."""
    assert [GossipSettings(num_agents=agents).num_gossip_rounds for agents in (4, 8, 16, 2, 1)] == [10, 11, 45, 1, 0]
    assert GossipSettings(num_agents=3).weights == pytest.approx(np.full((3, 3), 1 / 3))
    assert GossipSettings(num_agents=8, gossip_rounds=3).num_gossip_rounds == 3
    traffic = training_traffic(GossipSettings()).gossip
    assert (traffic.critic_messages, traffic.critic_bytes) == (80, 80 * 49_152)
    assert traffic.critic_bytes == pytest.approx(3.93e6, rel=1e-3)
    assert (traffic.signal_messages, traffic.signal_bytes) == (80, 80 * 4 * 32)
    assert training_traffic(GossipSettings(critic="linear")).gossip.critic_bytes == 80 * 4 * (12 * 4 + 1)
    assert training_traffic(GossipSettings(gossip_rounds=0)).gossip.messages == 0
    summaries = training_traffic(GossipSettings())
    assert (summaries.summary_messages, summaries.summary_bytes) == (4 * 3 * 64, 4 * 3 * 64 * 48)
    for kind, size in (("deep", 3 * 64**2), ("linear", 12 * 4 + 1)):
        critics = GossipCritics(GossipSettings(critic=kind), np.random.default_rng(0))
        assert critics.layers[0].size == critics.network.layers.size == size


@pytest.mark.parametrize("critic", ["deep", "linear"])
def test_gossip_closes_the_gap(critic: str) -> None:
    """Tests on a ring of 4 that the distance to the mean falls by sigma^tg at least, and the mean stays.

    sigma = 1/3; without gossip the gap stays, on a complete graph one exchange closes it.
    """
    common = {"critic": critic, "beta": 0.01}
    alone, single = _lesson(tiny_gossip(**common, gossip_rounds=0))
    ring, mixed = _lesson(tiny_gossip(**common, gossip_rounds=2))
    assert float(single.gap_after) == float(single.gap_before) == float(mixed.gap_before) > 1e-2
    assert 0 < _norm(ring.layers) <= _norm(alone.layers) / 9 * (1 + 1e-4)
    assert float(mixed.gap_after) <= 2 * float(mixed.gap_before) / 9  # the root of A between the norms
    assert ring.layers.mean(axis=0) == pytest.approx(alone.layers.mean(axis=0), abs=1e-5)
    every, exact = _lesson(tiny_gossip(**common, graph="complete"))
    assert every.operator == pytest.approx(averaging_weights(4))
    assert float(exact.gap_after) < 1e-5
    assert every.layers[2] == pytest.approx(alone.layers.mean(axis=0), abs=1e-5)
    signals = np.asarray(single.signals)
    assert np.asarray(exact.signals).std(axis=1).max() < 1e-4 < signals.std(axis=1).max()


def test_gossip_is_vacuous_with_a_team_reward() -> None:
    """Tests three updates: with own rewards critics part and exchanges matter; with one reward for all they do not."""
    found = {}
    for rewards in ("own", "team"):
        for exchanges in (0, 1, 10):
            critics, lesson = _lesson(tiny_gossip(rewards=rewards, gossip_rounds=exchanges, beta=0.01), lessons=3)
            found[rewards, exchanges] = critics.layers, np.asarray(lesson.signals)
            assert (_norm(critics.layers) < 1e-4) == (rewards == "team" or exchanges == 10)
    for exchanges in (1, 10):
        for with_one, without in zip(found["team", exchanges], found["team", 0], strict=True):
            assert with_one == pytest.approx(without, abs=1e-4)
        assert np.abs(found["own", exchanges][1] - found["own", 0][1]).max() > 0.1
    assert np.abs(found["own", 1][0] - found["own", 0][0]).max() > 1e-3


def test_projection() -> None:
    """Tests a radius that critics reach: no layer is further than B from the first, and hits are counted."""
    settings = tiny_gossip(beta=0.05, radius=0.02)
    critics, lesson = _lesson(settings)
    away = np.linalg.norm(critics.layers - np.asarray(critics.network.layers), axis=(2, 3))
    assert away.max() <= 0.02 * (1 + 1e-4)
    assert float(lesson.hits) > 0.5
    assert float(_lesson(tiny_gossip(beta=0.05))[1].hits) == 0.0


def test_restart_and_sign() -> None:
    """Tests that a critic that restarts learns from the first weights again, and that signs are opposite."""
    warm, cold = (_lesson(tiny_gossip(warm_start=is_warm), lessons=2)[0].layers for is_warm in (True, False))
    only_second = GossipCritics(tiny_gossip(), np.random.default_rng(8))
    only_second.learn(transitions_of(played(tiny_gossip(), [28])[14:]))
    assert cold == pytest.approx(only_second.layers, abs=1e-6)
    assert np.abs(cold - warm).max() > 1e-4
    up, down = (
        np.asarray(_lesson(tiny_gossip(signal="q_residual", sign=sign))[1].signals) for sign in ("repaired", "printed")
    )
    assert up.tolist() == (-down).tolist()
    assert np.abs(up).max() > 0


def test_centred_critics_begin_at_zero() -> None:
    """Tests that signals are the rewards before anything is learned, and something else without centring."""
    rewards = np.array([one.reward for one in played(tiny_gossip(), [14])[6:]], dtype=np.float32)
    for is_centred in (True, False):
        settings = tiny_gossip(is_centred=is_centred, beta=1e-12, gossip_rounds=0)
        away = np.abs(np.asarray(_lesson(settings)[1].signals) - rewards)
        assert (away.max() < 1e-6) == is_centred
        assert (away.min(axis=0).max() > 1e-4) == (not is_centred)


def test_linear_critic() -> None:
    """Tests values and one step by hand, and that its gradient is as long as that of deep critics at first."""
    critic = linear_critic(inputs=5, width=64, depth=3)
    x, ahead = np.array([0.6, 0, 0, 0.8, 0], dtype=np.float32), np.array([0, 1, 0, 0, 0], dtype=np.float32)
    step = Transitions(x[None], ahead[None], np.array([[-2.0, 1.0]], dtype=np.float32), np.array([0.9], np.float32))
    layers = np.repeat(critic.layers[np.newaxis], 2, axis=0)
    learned = critic_pass(critic.ends, layers, critic.layers, step, beta=0.01, radius=20.0, value_of=linear_value_of)
    root = 192**0.5
    expected = np.array([-2.0, 1.0])[:, None] * 0.01 * root * x / 2  # the mean of start and first step
    assert np.asarray(learned.mean)[:, 0, 0] == pytest.approx(expected, rel=1e-5)
    assert float(linear_value_of(critic.ends, np.asarray(learned.mean)[0], x)) == pytest.approx(-0.01 * 192, rel=1e-5)
    rng, gradient = np.random.default_rng(1), jax.jit(jax.grad(value_of, argnums=1))
    squares = []
    for _ in range(40):
        deep = random_network(rng, inputs=49, width=64, depth=3)
        squares.append(float((np.asarray(gradient(deep.ends, deep.layers, unit(rng.random(49)))) ** 2).sum()))
    assert np.mean(squares) == pytest.approx(192, rel=0.25)
