"""Rounds of training instances as steps of a decentralised actor-critic, and the state for its critics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heuristics.jobs.actor_critic.critic import Transitions
from heuristics.jobs.marl.environment import AgentsRun
from heuristics.jobs.marl.network import Variant
from heuristics.jobs.marl.network_decider import NetworkDecider
from heuristics.jobs.marl.observation import SUMMARY_FEATURES
from heuristics.jobs.marl.observer import agent_summary
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.reward import round_rewards
from heuristics.jobs.marl.rounds import Rounds
from heuristics.jobs.marl.training.instances import at_training_speeds, training_instance
from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.job_shapes import JobShapes
from heuristics.jobs.predictors.predictor import predictor_named
from heuristics.jobs.simulator import Simulator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from heuristics.jobs.interference_predictor.predictor import InterferencePredictor
    from heuristics.jobs.marl.gossip.settings import GossipSettings
    from heuristics.jobs.marl.network import Parameters
    from heuristics.jobs.marl.observation import Observation, ObservationSize
    from heuristics.jobs.marl.rounds import Decision


def num_state_features(num_agents: int) -> int:
    """Return the numbers in a state: the summaries of all agents and a constant."""
    return num_agents * SUMMARY_FEATURES + 1


def global_state(rounds: Rounds, time: int, kappa: float) -> NDArray[np.float32]:
    """Return the summaries of all agents and the constant 1, scaled to norm 1, shape (12 A + 1,).

    At the beginning of a round this is the state s of docs/methods/multi_agent.md, section 9, which every agent knows
    because summaries are broadcast; after the round, when all have acted, it represents s and the joint action (ours).
    """
    summaries = [agent_summary(rounds, agent, time, kappa) for agent in range(rounds.num_agents)]
    state = np.concatenate([*summaries, np.ones(1, dtype=np.float32)])
    scaled: NDArray[np.float32] = state / np.linalg.norm(state)
    return scaled


class Choice(NamedTuple):
    """One decision."""

    agent: int
    seen: Observation
    slot: int


class PlayedRound(NamedTuple):
    """A round and its results."""

    x: NDArray[np.float32]
    """Input of the critics, shape (12 A + 1,)."""
    next_x: NDArray[np.float32]
    """Input of the critics in the following round."""
    reward: NDArray[np.float64]
    """Reward of each agent until then, shape (A,), in units of kappa."""
    discount: float
    """gamma^(ticks until then / kappa); 0 at the end, if nothing follows."""
    choices: list[Choice]
    """Decisions of all agents in order."""
    mean_jct: float | None
    """Mean JCT of the episode in ticks, if this was its last round."""


class RoundWalk:
    """Plays an endless sequence of training instances, a number of rounds at a time.

    A step goes from one round to the next, with or without decisions. The rounds after the last start of an episode,
    which have no decisions, belong to the previous step: its reward is their discounted sum (ours). The end of an
    episode is a restart.

    Parameters
    ----------
    stream_rng, play_rng
        Sources of the instances, and of slots and predicted durations.
    predictor
        Predictor of interference, needed if speeds are predicted.
    """

    def __init__(
        self,
        settings: GossipSettings,
        stream_rng: np.random.Generator,
        play_rng: np.random.Generator,
        *,
        kappa: float,
        size: ObservationSize,
        predictor: InterferencePredictor | None,
    ) -> None:
        self._settings, self._stream_rng, self._play_rng = settings, stream_rng, play_rng
        self.kappa, self._size, self._predictor = kappa, size, predictor
        self._sees_actions = settings.signal == "q_residual"
        self._parameters: list[Parameters] = []
        self._choices: list[Choice] = []
        self._rounds: Rounds | None = None
        self._is_held = False

    def play(self, parameters: Sequence[Parameters], count: int) -> list[PlayedRound]:
        """Return the next rounds.

        If critics see actions, those of the round after the last one are drawn as well, and that round is the first one
        of the next call (ours). Slots are drawn by the probabilities of each agent's parameters.
        """
        self._parameters[:] = parameters
        return [self._step(self._begin() if self._rounds is None else self._rounds) for _ in range(count)]

    def _begin(self) -> Rounds:
        """Advance to the first round of the next instance."""
        settings = self._settings
        instance, running = at_training_speeds(settings, training_instance(settings, self._stream_rng), self._predictor)
        for_slots, for_durations = self._play_rng.spawn(2)
        decider = NetworkDecider(
            self._parameters, self.kappa, Variant(settings.variant), size=self._size, rng=for_slots, watch=self._record
        )
        rounds = Rounds(
            JobShapes(instance), Partitions(instance, settings.num_agents), decider, max_forwards=settings.max_forwards
        )
        predictor = predictor_named(settings.durations, instance, for_durations)
        self._rounds = rounds
        self._simulator = Simulator(instance, rounds, predictor, HeavyEdge(instance), running=running)
        self._ticks: Iterator[int] = self._simulator.ticks()
        self._time = next(self._ticks)
        self._x = global_state(rounds, self._time, self.kappa)
        return rounds

    def _record(self, decision: Decision, seen: Observation, slot: int) -> None:
        """Record a decision."""
        self._choices.append(Choice(decision.agent, seen, slot))

    def _hold(self, rounds: Rounds) -> None:
        """Let all agents act once in the current round."""
        if self._is_held:
            return
        self._is_held, self._choices = True, []
        rounds.dispatch(self._time)
        if self._sees_actions:
            self._x = global_state(rounds, self._time, self.kappa)

    def _step(self, rounds: Rounds) -> PlayedRound:
        """Play a round and advance to the next one."""
        self._hold(rounds)
        settings, begin, x, choices = self._settings, self._time, self._x, self._choices
        unfinished = np.array([len(rounds.queues[a]) + len(rounds.running_on[a]) for a in range(rounds.num_agents)])
        following, mean_jct = next(self._ticks, None), None
        if following is None:
            reward, until, mean_jct = self._rest(rounds)
            rounds = self._begin()
        else:
            self._time = until = following
            reward = self._counted(-unfinished * (until - begin) / self.kappa)
            self._x = global_state(rounds, until, self.kappa)
        self._is_held = False
        if self._sees_actions:
            self._hold(rounds)
        is_last = following is None and settings.target == "true"
        discount = 0.0 if is_last else settings.gamma ** ((until - begin) / self.kappa)
        return PlayedRound(x, self._x, reward, discount, choices, mean_jct)

    def _rest(self, rounds: Rounds) -> tuple[NDArray[np.float64], int, float]:
        """Return the reward from the last round with starts to the end, the tick of the end, and the mean JCT."""
        simulation = self._simulator.finish()
        found = round_rewards(AgentsRun(simulation=simulation, rounds=rounds))
        left = found.times >= self._time
        discounts = self._settings.gamma ** ((found.times[left] - self._time) / self.kappa)
        reward = (discounts[:, None] * self._counted(found.rewards(self.kappa)[left])).sum(axis=0)
        jct = simulation.completion - rounds.instance.release
        return reward, int(simulation.completion.max()), float(jct.mean())

    def _counted(self, reward: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rewards by agent (last axis) in the form used for learning."""
        if self._settings.unit_rewards:
            reward = np.clip(reward + 1.0, 0.0, 1.0)
        if self._settings.rewards == "team":
            reward = np.broadcast_to(reward.mean(axis=-1, keepdims=True), reward.shape)
        return reward


def transitions_of(rounds: Sequence[PlayedRound]) -> Transitions:
    """Return rounds as inputs of the critics, arrays of float32."""
    stacked: list[Any] = [np.asarray(array, dtype=np.float32) for array in list(zip(*rounds, strict=True))[:4]]
    return Transitions(*stacked)
