"""Tests that rounds, their rewards and what follows them are those of the simulation."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from heuristics.jobs.marl.environment import AgentsRun, simulate_agents
from heuristics.jobs.marl.gossip.round_walk import transitions_of
from heuristics.jobs.marl.network import Variant
from heuristics.jobs.marl.network_decider import NetworkDecider
from heuristics.jobs.marl.observer import agent_summary
from heuristics.jobs.marl.reward import round_rewards
from heuristics.jobs.marl.training.instances import training_instance
from heuristics.jobs.predictors.simple_predictors import Oracle
from tests.heuristics.jobs.marl.gossip.played import KAPPA, observation_size, played, untrained
from tests.heuristics.jobs.marl.gossip.tiny_gossip import tiny_gossip

if TYPE_CHECKING:
    from heuristics.jobs.marl.gossip.settings import GossipSettings
    from heuristics.jobs.marl.rounds import Rounds
    from instances.jobs.instance import JobsInstance

AGENTS, WAIT = 4, 11


class _Watching(NetworkDecider):
    """Remembers the summaries at the beginning of every round."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.seen: dict[int, np.ndarray] = {}

    def begin_round(self, rounds: Rounds, time: int) -> None:
        """Remember."""
        super().begin_round(rounds, time)
        self.seen[time] = np.concatenate([agent_summary(rounds, agent, time, KAPPA) for agent in range(AGENTS)])


def _simulated(settings: GossipSettings, instance: JobsInstance, rng: np.random.Generator) -> tuple[AgentsRun, dict]:
    """Return the same episode, simulated in one go, and the summaries by tick."""
    decider = _Watching(untrained(settings), KAPPA, Variant.FLAT, size=observation_size(settings), rng=rng.spawn(2)[0])
    run = simulate_agents(instance, decider, Oracle(instance), num_agents=AGENTS)
    assert run is not None
    return run, decider.seen


@pytest.mark.parametrize("rewards", ["own", "team"])
def test_two_episodes_against_the_simulation(rewards: str) -> None:
    """Tests states, rewards and discounts of two episodes, against simulations of them."""
    settings = tiny_gossip(rewards=rewards, gamma=0.9)
    rounds = played(settings, [5, 9, 60])
    stream, play, position = np.random.default_rng(3), np.random.default_rng(4), 0
    for _ in range(2):
        instance = training_instance(settings, stream)
        run, seen = _simulated(settings, instance, play)
        found = round_rewards(run)
        expected = found.rewards(KAPPA)
        if rewards == "team":
            expected = np.repeat(expected.mean(axis=1, keepdims=True), AGENTS, axis=1)
        times = sorted(seen)
        episode = rounds[position : position + len(times)]
        position += len(times)
        assert [one.mean_jct is not None for one in episode] == [False] * (len(times) - 1) + [True]
        assert episode[-1].mean_jct == (run.simulation.completion - instance.release).mean()
        for number, (time, one) in enumerate(zip(times, episode, strict=True)):
            state = np.append(seen[time], np.float32(1))
            assert one.x == pytest.approx(state / np.linalg.norm(state), rel=1e-6)
            row = int(np.searchsorted(found.times, time))
            if number + 1 < len(times):
                assert one.reward == pytest.approx(expected[row])
                assert one.discount == pytest.approx(0.9 ** ((times[number + 1] - time) / KAPPA))
                assert one.next_x is episode[number + 1].x
            else:
                factors = 0.9 ** ((found.times[row:] - time) / KAPPA)
                assert one.reward == pytest.approx((factors[:, None] * expected[row:]).sum(axis=0))
                assert one.discount == 0.0
                assert one.next_x is rounds[position].x
        assert sum(len(one.choices) for one in episode) == run.rounds.num_decisions
    assert position < len(rounds)


def test_undiscounted_rewards_are_the_total_jct() -> None:
    """Tests that kappa times the rewards of an episode is minus the total JCT, less what is before the first round."""
    settings = tiny_gossip(gamma=1.0)
    rounds = played(settings, [60])
    last = next(number for number, one in enumerate(rounds) if one.mean_jct is not None)
    jct = rounds[last].mean_jct
    assert jct is not None
    assert KAPPA * sum(one.reward.sum() for one in rounds[: last + 1]) == pytest.approx(-settings.jobs * jct)


def test_what_is_printed_looks_across_the_end() -> None:
    """Tests that a target "restarted" discounts the end as any other step, and unit rewards are in 0..1 but there."""
    settings = tiny_gossip(target="restarted", gamma=0.9, unit_rewards=True)
    rounds = played(settings, [50])
    ends = [number for number, one in enumerate(rounds) if one.mean_jct is not None]
    assert ends
    for number, one in enumerate(rounds):
        assert 0.0 < one.discount < 1.0
        assert one.reward.min() >= 0.0
        assert one.reward.max() <= 1.0 or number in ends
    assert any(0.0 < value < 1.0 for one in rounds for value in one.reward)


def test_states_after_actions() -> None:
    """Tests that a Q critic sees the summaries after the round, and next those after the next one, across calls."""
    settings = tiny_gossip(signal="q_residual")
    plain, acted = played(tiny_gossip(), [7, 9]), played(settings, [7, 9])
    assert [[c.slot for c in one.choices] for one in plain] == [[c.slot for c in one.choices] for one in acted]
    for one, two in zip(plain, acted, strict=True):
        if all(choice.slot == WAIT for choice in one.choices):  # all wait, or nobody is asked
            continue
        assert np.abs(one.x - two.x).max() > 1e-3
    assert all(one.next_x is two.x for one, two in itertools.pairwise(acted))
    assert any(choice.slot != WAIT for one in plain for choice in one.choices)
    transitions = transitions_of(acted)
    assert transitions.x.shape == transitions.next_x.shape == (16, AGENTS * 12 + 1)
    assert (transitions.reward.shape, transitions.discount.shape) == ((16, AGENTS), (16,))
    assert np.linalg.norm(transitions.x, axis=1) == pytest.approx(np.ones(16))
