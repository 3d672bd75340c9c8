"""The trainer without a centre: imitation, then actors and critics of agents that gossip, and the best networks."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heuristics.jobs.marl.agent_networks import AgentNetworks
from heuristics.jobs.marl.gossip.agent_actors import AgentActors
from heuristics.jobs.marl.gossip.gossip_critics import GossipCritics
from heuristics.jobs.marl.gossip.round_walk import RoundWalk, transitions_of
from heuristics.jobs.marl.gossip.training_traffic import training_traffic
from heuristics.jobs.marl.observation import ObservationSize
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.training.run_episodes import mean_jcts
from heuristics.jobs.marl.training.train import MarlTrainer
from heuristics.jobs.marl.training.training_instance import training_instance
from heuristics.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heuristics.jobs.interference_predictor.interference_predictor import InterferencePredictor
    from heuristics.jobs.marl.gossip.gossip_settings import GossipSettings
    from heuristics.jobs.marl.trained_network import TrainedNetwork
    from instances.jobs.jobs_instance import JobsInstance

_STREAMS = slice(5, 8)
"""Of the seed's children; those before belong to `MarlTrainer`."""


class GossipPoint(NamedTuple):
    """A measurement during training; means over the updates since the point before are None before the first one."""

    updates: int
    validation: float  # mean over the validation instances of mean JCT / the teacher's
    train_jct: float | None = None  # mean JCT / kappa of the episodes that ended, at the speeds of training
    reward: float | None = None  # mean over rounds of the sum over agents
    td_error: float | None = None  # mean absolute, before gossip
    gap_before: float | None = None  # max ||W_i - mean W|| before the gossip of critics
    gap_after: float | None = None  # and after it
    hits: float | None = None  # share of projections that had something to do
    direction: float | None = None  # mean ||d_i||
    entropy: float | None = None  # mean over decisions


class GossipTrainer:
    """Trains an actor per agent by a decentralised actor-critic with gossip; section 6 of the reference, ours.

    Imitation is that of `MarlTrainer`, from the same seed to the same bits; then every agent has a copy of its network,
    and a critic of the global state. In every update all play K + M rounds. Each critic learns from the first K with
    its agent's reward, and their running means are gossiped; each actor follows the temporal differences of its critic
    in the other M, which are gossiped too.

    Algorithms 1 and 2 of Zhang et al. (2025), with the deviations that `GossipSettings` names. The theorem there covers
    no practical change: not Adam, nor masks, nor critics of states, nor what agents see only in part. No guarantee is
    claimed. The same computer, versions, seed and arguments give the same weights bit for bit.

    Parameters
    ----------
    settings
        The numbers of the training.
    seed
        Of everything random: first critic, instances and play have their own beside those of `MarlTrainer`.

    Attributes
    ----------
    network_
        The best on the validation instances; the older one on a tie.
    start_network_, imitated_network_, teacher_, predictor_, fitted_
        As `MarlTrainer` has them.
    best_
        Validation of `network_`.
    critics_
        In their last state; None if it did not come to that.
    traffic_
        What one update sends.
    curve_
        Measurements: untrained (update 0), imitated (update 0 too), then every `validate_every` updates.
    seconds_
        Wall time of `fit`.
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
        """Play, let critics and actors learn, and return what was measured."""
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
        """Measure the networks; keep them where they are the best."""
        networks = AgentNetworks(agents=tuple(dataclasses.replace(begin, parameters=one) for one in actors.parameters))
        ratio = float((mean_jcts(self.settings, validation, networks) / self.teacher_).mean())
        means = {}
        for name in GossipPoint._fields[2:]:
            known = [getattr(point, name) for point in measured if getattr(point, name) is not None]
            means[name] = float(np.mean(known)) if known else None
        self.curve_.append(GossipPoint(measured[-1].updates, ratio, **means))
        if ratio < self.best_:
            self.best_, self.network_ = ratio, networks
