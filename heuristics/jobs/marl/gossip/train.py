"""The trainer without a centre: imitation, then actors and critics of agents that gossip; keeps the best networks."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from heuristics.jax_options import COMPILER_OPTIONS
from heuristics.jobs.actor_critic.actor import actor_update, length_of
from heuristics.jobs.actor_critic.critic import (
    DeepNetwork,
    Ends,
    Transitions,
    critic_pass,
    linear_critic,
    linear_value_of,
    random_network,
    td_errors,
    value_of,
    weight_gap,
)
from heuristics.jobs.actor_critic.gossip import FLOAT_BYTES, gossip_operator, gossip_traffic, mix
from heuristics.jobs.actor_critic.settings import ActorCriticSettings
from heuristics.jobs.marl.gossip.round_walk import RoundWalk, num_state_features, transitions_of
from heuristics.jobs.marl.network import Variant
from heuristics.jobs.marl.network_files import AgentNetworks
from heuristics.jobs.marl.observation import SUMMARY_FEATURES, ObservationSize
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.training.instances import training_instance
from heuristics.jobs.marl.training.learner import DecisionBatch, Learner, to_numpy
from heuristics.jobs.marl.training.recorded_episodes import stack_observations
from heuristics.jobs.marl.training.run_episodes import mean_jcts
from heuristics.jobs.marl.training.train import MarlTrainer
from heuristics.search.clock import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from heuristics.jobs.actor_critic.gossip import GossipTraffic
    from heuristics.jobs.interference_predictor.predictor import InterferencePredictor
    from heuristics.jobs.marl.gossip.round_walk import PlayedRound
    from heuristics.jobs.marl.gossip.settings import GossipSettings
    from heuristics.jobs.marl.network import Parameters
    from heuristics.jobs.marl.network_files import TrainedNetwork
    from instances.jobs.instance import JobsInstance


class Direction(NamedTuple):
    """The direction in which to move the actor of one agent."""

    gradient: Parameters
    """Gradient of the mean over decisions of - signal ln pi(slot) - c_H entropy; zeros without decisions."""
    scale: float
    """Decisions / M; d_i, with the bonus for entropy, is minus this scale times the gradient."""
    entropy: float | None
    """Mean over decisions; None without decisions."""


class AgentActors:
    """Actors of all agents; all begin with the same parameters."""

    def __init__(self, settings: GossipSettings, parameters: Parameters) -> None:
        self._settings = settings
        self._learner = Learner(Variant(settings.variant), value_weight=0.0, chunk=settings.actor_chunk)
        rule = settings.actor_critic
        begin, self._step = _compiled_step(rule.update, rule.alpha_schedule, rule.alpha, rule.max_norm)
        self._zeros = {name: np.zeros_like(array) for name, array in parameters.items()}
        self.parameters: list[Parameters] = [dict(parameters) for _ in range(settings.num_agents)]
        self._states = [begin(parameters) for _ in range(settings.num_agents)]

    def direction(
        self, agent: int, rounds: Sequence[PlayedRound], signals: NDArray[np.float32], entropy_weight: float
    ) -> Direction:
        """Return d_i = (1/M) sum over rounds of signal times the gradient of the sum of ln pi over i's decisions.

        Parameters
        ----------
        rounds, signals
            M rounds, and the signals of each agent after gossip, shape (M, A).
        entropy_weight
            c_H; the bonus is (1/M) sum over decisions of c_H times the entropy's gradient.
        """
        mine = [(number, one) for number, each in enumerate(rounds) for one in each.choices if one.agent == agent]
        if not mine:
            return Direction(self._zeros, 0.0, None)
        number = [step for step, _ in mine]
        batch = DecisionBatch(
            seen=stack_observations([one.seen for _, one in mine]),
            slot=np.array([one.slot for _, one in mine], dtype=np.int32),
            advantage=np.asarray(signals, dtype=np.float32)[number, agent],
            target=np.zeros(len(mine), dtype=np.float32),
            weight=np.zeros(len(mine), dtype=np.float32),
            logarithm=np.zeros(len(mine), dtype=np.float32),
        )
        gradient, parts = self._learner.gradient(self.parameters[agent], batch, entropy_weight)
        return Direction(gradient, len(mine) / len(rounds), parts.entropy)

    def move(self, agent: int, direction: Direction) -> float:
        """Move an actor and return ||d_i||."""
        parameters, self._states[agent], norm = self._step(
            self.parameters[agent], self._states[agent], direction.gradient, np.float32(-direction.scale)
        )
        self.parameters[agent] = to_numpy(parameters)
        return float(norm)


@cache
def _compiled_step(update: str, alpha_schedule: str, alpha: float, max_norm: float) -> tuple[Any, Any]:
    """Return the initial state and the compiled step of a rule."""
    rule = actor_update(ActorCriticSettings(update=update, alpha_schedule=alpha_schedule, max_norm=max_norm), alpha)

    def step(parameters: Parameters, state: Any, gradient: Parameters, factor: Any) -> tuple[Any, Any, Any]:
        """Make a step along a direction, a gradient times a factor."""
        direction = jax.tree.map(lambda array: factor * array, gradient)
        change, state = rule.update(direction, state, parameters)
        return optax.apply_updates(parameters, change), state, length_of(direction)

    return rule.init, jax.jit(step, compiler_options=COMPILER_OPTIONS)


class Lesson(NamedTuple):
    """The results of the critics for the rounds of one update.

    Parameters
    ----------
    layers
        W_i after gossip, shape (A, D, m, m); of linear critics (A, 1, 1, d).
    signals
        Weights of the scores of the actors after gossip, shape (M, A).
    td_error
        Mean absolute temporal difference in the actors' rounds before gossip.
    gap_before, gap_after
        max ||W_i - mean W|| before and after the gossip of the critics.
    hits
        Share of projections that changed weights.
    """

    layers: jax.Array
    signals: jax.Array
    td_error: jax.Array
    gap_before: jax.Array
    gap_after: jax.Array
    hits: jax.Array


class GossipCritics:
    """Critics that begin at common weights W(0), with common first and last layers.

    `operator` is Am to the power of tg, shape (A, A), float32.
    """

    def __init__(self, settings: GossipSettings, rng: np.random.Generator) -> None:
        inputs = num_state_features(settings.num_agents)
        shape = {"inputs": inputs, "width": settings.width, "depth": settings.depth}
        self._settings = settings
        self.network = linear_critic(**shape) if settings.critic == "linear" else random_network(rng, **shape)
        self.layers = np.repeat(np.asarray(self.network.layers)[np.newaxis], settings.num_agents, axis=0)
        self.operator = gossip_operator(settings.weights, settings.num_gossip_rounds)

    def learn(self, transitions: Transitions) -> Lesson:
        """Learn from the first K of K + M rounds, evaluate the others, and keep the learned weights.

        Does steps 1 and 2 of docs/methods/multi_agent.md, section 9, up to the directions of the actors.
        """
        settings, first = self._settings, np.broadcast_to(self.network.layers, self.layers.shape)
        lesson: Lesson = _lesson(
            self.network,
            self.layers if settings.warm_start else first,
            transitions,
            self.operator,
            np.float32(settings.beta),
            np.float32(settings.radius),
            np.float32(-1 if settings.sign == "printed" else 1),
            np.float32(settings.is_centred),
            critic_steps=settings.critic_steps,
            is_linear=settings.critic == "linear",
        )
        self.layers = np.asarray(lesson.layers)
        return lesson


@partial(jax.jit, static_argnames=("critic_steps", "is_linear"), compiler_options=COMPILER_OPTIONS)
def _lesson(
    network: DeepNetwork,
    layers: Any,
    transitions: Transitions,
    operator: Any,
    beta: Any,
    radius: Any,
    sign: Any,
    centred: Any,
    *,
    critic_steps: int,
    is_linear: bool,
) -> Lesson:
    """Learn, gossip, evaluate, gossip."""
    value_with = linear_value_of if is_linear else value_of

    def critic(ends: Ends, weights: Any, x: Any) -> Any:
        """Return a value, minus that of the first weights if critics are centred."""
        return value_with(ends, weights, x) - centred * value_with(ends, network.layers, x)

    watched: Transitions = jax.tree.map(lambda array: array[:critic_steps], transitions)
    acted: Transitions = jax.tree.map(lambda array: array[critic_steps:], transitions)
    learned = critic_pass(network.ends, layers, network.layers, watched, beta=beta, radius=radius, value_of=critic)
    mixed = mix(operator, learned.mean)
    errors = td_errors(network.ends, mixed, acted, critic)
    signals = mix(operator, (sign * errors).T).T
    return Lesson(mixed, signals, jnp.abs(errors).mean(), weight_gap(learned.mean), weight_gap(mixed), learned.hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingTraffic:
    """Messages of one update; docs/methods/multi_agent.md, section 9.

    Parameters
    ----------
    gossip
        Messages of critics and signals, in all exchanges.
    summary_messages, summary_bytes
        Summaries, from each agent to every other one at the beginning of every round.
    """

    gossip: GossipTraffic
    summary_messages: int
    summary_bytes: int


def training_traffic(settings: GossipSettings) -> TrainingTraffic:
    """Count the messages of one update, without headers."""
    agents, deep = settings.num_agents, settings.depth * settings.width**2
    messages = agents * (agents - 1) * (settings.critic_steps + settings.actor_steps)
    return TrainingTraffic(
        gossip=gossip_traffic(
            settings.weights,
            settings.num_gossip_rounds,
            critic_size=deep if settings.critic == "deep" else num_state_features(agents),
            signal_size=settings.actor_steps,
        ),
        summary_messages=messages,
        summary_bytes=messages * SUMMARY_FEATURES * FLOAT_BYTES,
    )


_STREAMS = slice(5, 8)
"""Children of the seed; earlier ones belong to `MarlTrainer`."""


class GossipPoint(NamedTuple):
    """A measurement during training; means over the updates since the point before are None before the first one."""

    updates: int
    validation: float  # mean over the validation instances of mean JCT / the teacher's
    train_jct: float | None = None  # mean JCT / kappa of the episodes that ended, at the speeds of training
    reward: float | None = None  # mean over rounds of the sum over agents
    td_error: float | None = None  # mean absolute, before gossip
    gap_before: float | None = None  # max ||W_i - mean W|| before the gossip of critics
    gap_after: float | None = None  # and after it
    hits: float | None = None  # share of projections that changed weights
    direction: float | None = None  # mean ||d_i||
    entropy: float | None = None  # mean over decisions


class GossipTrainer:
    """Trains one actor per agent by a decentralised actor-critic with gossip.

    Ours: docs/methods/multi_agent.md, section 9.

    Imitation is that of `MarlTrainer`, with the same bits from the same seed; then every agent has a copy of the
    imitated network and a critic of the global state. In every update all agents play K + M rounds. Each critic learns
    from the first K rounds with its agent's reward, and the running means of critics are gossiped; each actor follows
    the temporal differences of its critic in the other M rounds, which are gossiped too.

    Algorithms 1 and 2 of Zhang et al. (2025), with the deviations that `GossipSettings` names. The theorem there covers
    none of the practical changes: Adam, masks, critics of states, and partial observations. No guarantee is claimed.
    The same computer, number of cores, versions, seed and arguments give the same weights bit for bit.

    Parameters
    ----------
    seed
        Seed of all random numbers; first critic, instances and play have streams in addition to those of `MarlTrainer`.

    Attributes
    ----------
    network_
        The best networks on the validation instances; the older ones on a tie.
    start_network_, imitated_network_, teacher_, predictor_, fitted_
        As `MarlTrainer` has them.
    best_
        Validation of `network_`.
    critics_
        Critics in their last state; None if their training did not begin.
    traffic_
        Messages of one update.
    curve_
        Measurements: untrained (update 0), imitated (update 0 too), then every `validate_every` updates.
    is_interrupted_
        Whether Ctrl-C ended the training.
    """

    def __init__(self, settings: GossipSettings, *, seed: int) -> None:
        self.settings = settings
        self.seed = seed

    def fit(
        self,
        validation: Sequence[JobsInstance],
        *,
        predictor: InterferencePredictor | None = None,
        on_progress: Callable[[str, int, int], None] = lambda doing, done, total: None,
    ) -> GossipTrainer:
        """Train; Ctrl-C ends the training and keeps the best networks so far.

        Parameters and errors are those of `MarlTrainer.fit`.
        """
        watch, settings = Stopwatch(), self.settings
        central = MarlTrainer(dataclasses.replace(settings, updates=0), seed=self.seed)
        central.fit(validation, predictor=predictor, on_progress=on_progress)
        self.start_network_, self.imitated_network_ = central.start_network_, central.imitated_network_
        self.teacher_, self.predictor_, self.fitted_ = central.teacher_, central.predictor_, central.fitted_
        self.best_, self.network_ = central.best_, AgentNetworks.copies(central.network_)
        self.is_interrupted_ = central.is_interrupted_
        self.curve_ = [GossipPoint(point.updates, point.validation) for point in central.curve_]
        self.critics_: GossipCritics | None = None
        self.traffic_ = training_traffic(settings)
        if settings.updates and not self.is_interrupted_:
            try:
                self._train(validation, on_progress)
            except KeyboardInterrupt:
                self.is_interrupted_ = True
        self.seconds_ = watch.seconds
        return self

    def _train(self, validation: Sequence[JobsInstance], on_progress: Callable[[str, int, int], None]) -> None:
        """Make all updates."""
        settings = self.settings
        critic_rng, stream_rng, play_rng = (
            np.random.default_rng(child) for child in np.random.SeedSequence(self.seed).spawn(_STREAMS.stop)[_STREAMS]
        )
        begin = self.start_network_ if self.imitated_network_ is None else self.imitated_network_
        first = training_instance(settings, np.random.default_rng(0))  # all have the same servers
        walk = RoundWalk(
            settings,
            stream_rng,
            play_rng,
            kappa=begin.kappa,
            size=ObservationSize.of(Partitions(first, settings.num_agents)),
            predictor=self.predictor_,
        )
        self.critics_, actors = GossipCritics(settings, critic_rng), AgentActors(settings, begin.parameters)
        measured: list[GossipPoint] = []
        for update in range(settings.updates):
            on_progress(f"{self.curve_[-1].validation:.3f} of the teacher's JCT", update, settings.updates)
            measured.append(self._update(walk, self.critics_, actors, update))
            if (update + 1) % settings.validate_every == 0 or update + 1 == settings.updates:
                self._validate(validation, begin, actors, measured)
                measured = []

    def _update(self, walk: RoundWalk, critics: GossipCritics, actors: AgentActors, update: int) -> GossipPoint:
        """Play, let critics and actors learn, and return the measurements."""
        settings = self.settings
        rounds = walk.play(actors.parameters, settings.critic_steps + settings.actor_steps)
        lesson = critics.learn(transitions_of(rounds))
        weight = settings.entropy_weight(update) if settings.update == "practical" else 0.0
        signals, acted = np.asarray(lesson.signals), rounds[settings.critic_steps :]
        found = [actors.direction(agent, acted, signals, weight) for agent in range(settings.num_agents)]
        lengths = [actors.move(agent, direction) for agent, direction in enumerate(found)]
        ended = [one.mean_jct / walk.kappa for one in rounds if one.mean_jct is not None]
        entropies = [direction.entropy for direction in found if direction.entropy is not None]
        return GossipPoint(
            updates=update + 1,
            validation=np.nan,
            train_jct=float(np.mean(ended)) if ended else None,
            reward=float(np.mean([one.reward.sum() for one in rounds])),
            td_error=float(lesson.td_error),
            gap_before=float(lesson.gap_before),
            gap_after=float(lesson.gap_after),
            hits=float(lesson.hits),
            direction=float(np.mean(lengths)),
            entropy=float(np.mean(entropies)) if entropies else None,
        )

    def _validate(
        self,
        validation: Sequence[JobsInstance],
        begin: TrainedNetwork,
        actors: AgentActors,
        measured: Sequence[GossipPoint],
    ) -> None:
        """Measure the networks; keep them if they are the best."""
        networks = AgentNetworks(agents=tuple(dataclasses.replace(begin, parameters=one) for one in actors.parameters))
        ratio = float((mean_jcts(self.settings, validation, networks) / self.teacher_).mean())
        means = {}
        for name in GossipPoint._fields[2:]:
            known = [getattr(point, name) for point in measured if getattr(point, name) is not None]
            means[name] = float(np.mean(known)) if known else None
        self.curve_.append(GossipPoint(measured[-1].updates, ratio, **means))
        if ratio < self.best_:
            self.best_, self.network_ = ratio, networks
