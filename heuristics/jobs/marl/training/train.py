"""The central trainer: predictor, imitation, policy gradient, and the best network on validation instances."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heuristics.jobs.interference_predictor.features import FeatureSpace
from heuristics.jobs.interference_predictor.fit import fit_predictor
from heuristics.jobs.interference_predictor.samples import random_co_locations
from heuristics.jobs.marl.network import WIDTH, Variant
from heuristics.jobs.marl.network_files import TrainedNetwork, untrained_network
from heuristics.jobs.marl.observation import OFFER_FEATURES, ObservationSize
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.reward import time_scale
from heuristics.jobs.marl.training.instances import training_instance
from heuristics.jobs.marl.training.learner import DecisionBatch, Descent, Learner, to_numpy
from heuristics.jobs.marl.training.recorded_episodes import (
    Judged,
    ValueScale,
    decision_targets,
    join_observations,
    judged_decisions,
)
from heuristics.jobs.marl.training.run_episodes import mean_jcts, training_episode
from heuristics.search.clock import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from heuristics.jobs.interference_predictor.fit import FittedPredictors
    from heuristics.jobs.interference_predictor.predictor import InterferencePredictor
    from heuristics.jobs.marl.network import Parameters
    from heuristics.jobs.marl.training.recorded_episodes import RecordedEpisode
    from heuristics.jobs.marl.training.settings import TrainingSettings
    from instances.jobs.instance import JobsInstance


_FIRST = 2 * WIDTH


def without_offers(parameters: Parameters) -> Parameters:
    """Return parameters with weight 0 on offers; they stay 0 in a training on observations whose offers are 0."""
    changed = dict(parameters)
    for score in ("forward", "wait"):
        weight = changed[f"{score}.hidden.weight"].copy()
        weight[_FIRST : _FIRST + OFFER_FEATURES] = 0
        changed[f"{score}.hidden.weight"] = weight
    return changed


class CurvePoint(NamedTuple):
    """A measurement during training; means since the point before are None before the first update."""

    updates: int
    validation: float  # mean over the validation instances of mean JCT / the teacher's
    train_jct: float | None  # mean JCT / kappa of the training episodes, at the speeds of training
    value_error: float | None  # mean squared, in units of the scale
    entropy: float | None  # mean over decisions


@dataclass(slots=True, eq=False)
class TrainingStart:
    """The results of a start so far.

    Parameters
    ----------
    network
        The best network on the validation instances, the older one on a tie; at first the initial one.
    best
        Validation of `network`; infinite before it was measured.
    imitated
        Network after imitation; None if there was none or it did not end.
    scale
        Scale of the critic; None before there were episodes.
    """

    network: TrainedNetwork
    best: float = np.inf
    imitated: TrainedNetwork | None = None
    scale: ValueScale | None = None
    curve: list[CurvePoint] = field(default_factory=list)
    _updates: list[tuple[float, float, float]] = field(default_factory=list, init=False)

    def add_update(self, train_jct: float, value_error: float, entropy: float) -> None:
        """Record an update for the next measurement, see `CurvePoint`."""
        self._updates.append((train_jct, value_error, entropy))

    def add_validation(self, updates: int, validation: float, network: TrainedNetwork) -> None:
        """Add a measurement to the curve; keep its network if it is the best."""
        means = np.mean(self._updates, axis=0).tolist() if self._updates else [None, None, None]
        self.curve.append(CurvePoint(updates, validation, *means))
        self._updates = []
        if validation < self.best:
            self.best, self.network = validation, network


_SPACES = 20
"""Number of training instances from which kappa and the features of interference are taken."""


class MarlTrainer:
    """Trains actor and critic of `heuristics.jobs.marl.network`; ours: docs/methods/multi_agent.md, section 8.

    Additions to the plain form in that section: several passes over the decisions of an update with clipped ratios;
    episodes of one instance as baselines of each other; advantages over their deviation per instance before they are
    normalised per update; a decreasing learning rate; entropy in the imitation; further starts if one finds nothing.
    The critic predicts returns minus their mean over their deviation in the first episodes, because the gradient's norm
    is limited and raw returns are in the hundreds. It learns together with the actor during imitation, from the
    teacher's lambda-returns with lambda 1. A step is a round, see `RecordedEpisode` and `decision_targets`. The same
    computer, number of cores, versions, seed and arguments give the same weights bit for bit.

    Parameters
    ----------
    seed
        Seed of all random numbers; first weights, instances, episodes, predictor and order of imitation have streams of
        their own.

    Attributes
    ----------
    network_
        The best network of all starts on the validation instances; the older one on a tie.
    start_network_, imitated_network_
        Networks before training (of the first start), and after imitation of the start of `network_` (None if there was
        none or it did not end).
    best_
        Validation of `network_`.
    teacher_
        Mean JCT of the teacher on the validation instances, in ticks, shape (instances,).
    predictor_
        Predictor of interference; None if speeds are not predicted.
    fitted_
        All fitted predictors; None if `predictor_` was given or there is none.
    value_mean_, value_deviation_
        Mean and deviation of returns in units of kappa; the critic's numbers are relative to them.
    curve_, abandoned_curves_
        Measurements of the start of `network_`: untrained (update 0), imitated (update 0 too), then every
        `validate_every` updates; and those of other starts.
    is_interrupted_
        Whether Ctrl-C ended the training.
    """

    def __init__(self, settings: TrainingSettings, *, seed: int) -> None:
        self.settings = settings
        self.seed = seed

    def fit(
        self,
        validation: Sequence[JobsInstance],
        *,
        predictor: InterferencePredictor | None = None,
        on_progress: Callable[[str, int, int], None] = lambda doing, done, total: None,
    ) -> MarlTrainer:
        """Train; Ctrl-C ends the training and keeps the best network so far.

        Parameters
        ----------
        validation
            Instances on which the best network is chosen, at least one.
        predictor
            Predictor of interference; if None and speeds are predicted, one is fitted.
        on_progress
            Called with the current activity, its progress, and its total.

        Raises
        ------
        ValueError
            If there are no validation instances, or as `Partitions` and the generator of instances.
        """
        if not validation:
            raise ValueError("validation: expected at least one instance, got none.")
        watch, settings = Stopwatch(), self.settings
        self._stream_rng, self._play_rng, predictor_rng, self._order_rng = (
            np.random.default_rng(child) for child in np.random.SeedSequence(self.seed).spawn(5)[1:]
        )  # the first stream is that of `untrained_network`
        self._first = [training_instance(settings, self._stream_rng) for _ in range(_SPACES)]
        self._size = ObservationSize.of(Partitions(self._first[0], settings.num_agents))
        self._kappa, self._variant = time_scale(self._first), Variant(settings.variant)
        parameters = self._first_parameters(0)
        self.start_network_ = self._network(parameters)
        starts = [TrainingStart(self.start_network_)]
        self.is_interrupted_ = False
        self.predictor_, self.fitted_ = predictor, None
        self._imitator = Learner(self._variant, value_weight=settings.value_weight, chunk=settings.chunk)
        self._learner = Learner(
            self._variant, value_weight=settings.value_weight, chunk=settings.chunk, clip=settings.clip
        )
        on_progress("validation of the teacher", 0, settings.updates)
        self.teacher_ = mean_jcts(settings, validation, None)
        try:
            self._validate(starts[0], validation, parameters, 0)
            if settings.speeds == "predicted" and predictor is None:
                on_progress("interference predictor", 0, settings.updates)
                self.fitted_ = self._fit_predictor(predictor_rng)
                self.predictor_ = self.fitted_.predictor
            for number in range(settings.starts):
                if number:  # new weights; all other random streams continue
                    parameters = self._first_parameters(number)
                    starts.append(TrainingStart(self._network(parameters)))
                    self._validate(starts[-1], validation, parameters, 0)
                may_give_up = number + 1 < settings.starts
                if self._train(starts[-1], parameters, validation, on_progress, may_give_up=may_give_up):
                    break
        except KeyboardInterrupt:
            self.is_interrupted_ = True
        self._keep_the_best(starts)
        self.seconds_ = watch.seconds
        return self

    def _first_parameters(self, start: int) -> Parameters:
        """Return the weights that a start begins with."""
        network = untrained_network(
            self.seed,
            start=start,
            kappa=self._kappa,
            variant=self._variant,
            kinds=self._size.kinds,
            num_agents=self._size.num_agents,
        )
        return network.parameters if self.settings.offers else without_offers(network.parameters)

    def _keep_the_best(self, starts: Sequence[TrainingStart]) -> None:
        """Take the results of the best start, the first one on a tie; the last one may have been interrupted."""
        best = min(starts, key=lambda start: start.best)
        self.best_, self.network_, self.imitated_network_ = best.best, best.network, best.imitated
        self.value_mean_, self.value_deviation_ = best.scale or ValueScale()
        self.curve_ = best.curve
        self.abandoned_curves_ = [start.curve for start in starts if start is not best and start.curve]

    def _train(
        self,
        start: TrainingStart,
        parameters: Parameters,
        validation: Sequence[JobsInstance],
        on_progress: Callable[[str, int, int], None],
        *,
        may_give_up: bool,
    ) -> bool:
        """Imitate and make the updates; return False if the start is given up."""
        settings = self.settings
        if settings.imitation_episodes:
            parameters = self._imitate(start, parameters, on_progress)
            start.imitated = self._network(parameters)
            self._validate(start, validation, parameters, 0)
        descent = Descent(parameters, learning_rate=settings.learning_rate, max_norm=settings.max_norm)
        for update in range(settings.updates):
            on_progress(f"{start.curve[-1].validation:.3f} of the teacher's JCT", update, settings.updates)
            self._update(start, descent, update)
            if (update + 1) % settings.validate_every == 0 or update + 1 == settings.updates:
                self._validate(start, validation, to_numpy(descent.parameters), update + 1)
            is_early = update + 1 == settings.give_up_after < settings.updates
            if may_give_up and is_early and start.best > settings.give_up_above:
                return False
        return True

    def _network(self, parameters: Parameters) -> TrainedNetwork:
        """Return parameters as a network."""
        return TrainedNetwork(
            parameters=to_numpy(parameters),
            kappa=self._kappa,
            variant=self._variant,
            kinds=self._size.kinds,
            num_agents=self._size.num_agents,
        )

    def _fit_predictor(self, rng: np.random.Generator) -> FittedPredictors:
        """Fit the interference predictor to the jobs of the first training instances."""
        for_sample, for_fit = rng.spawn(2)
        space = FeatureSpace.of(self._first)
        sample = random_co_locations(space, self._first, for_sample, count=self.settings.co_locations)
        return fit_predictor(sample, for_fit, epochs=self.settings.predictor_epochs)

    def _episodes(self, count: int, network: TrainedNetwork | None) -> list[RecordedEpisode]:
        """Return the episodes of the next instance that have decisions."""
        instance = training_instance(self.settings, self._stream_rng)
        played = [
            training_episode(
                self.settings,
                instance,
                rng,
                kappa=self._kappa,
                size=self._size,
                network=network,
                predictor=self.predictor_,
            )
            for rng in self._play_rng.spawn(count)
        ]
        return [episode for episode in played if episode is not None]

    def _imitate(
        self, start: TrainingStart, parameters: Parameters, on_progress: Callable[[str, int, int], None]
    ) -> Parameters:
        """Learn the teacher's slots and the values of its states."""
        settings = self.settings
        episodes: list[RecordedEpisode] = []
        for number in range(settings.imitation_episodes):
            on_progress("episodes of the teacher", number, settings.imitation_episodes)
            episodes += self._episodes(1, None)
        if not episodes:
            return parameters
        returns = _returns(episodes)
        start.scale = ValueScale.of(returns)
        batch = _batch(episodes, Judged(returns, np.ones(len(returns)), np.zeros(len(returns))), start.scale)
        descent = Descent(parameters, learning_rate=settings.imitation_learning_rate)
        for epoch in range(settings.imitation_epochs):
            on_progress("imitation", epoch, settings.imitation_epochs)
            order = self._order_rng.permutation(len(returns))
            for begin in range(0, len(order), settings.chunk):
                rows = order[begin : begin + settings.chunk]
                gradient, _ = self._imitator.gradient(descent.parameters, batch, settings.imitation_entropy, rows)
                descent.step(gradient)
        return to_numpy(descent.parameters)

    def _update(self, start: TrainingStart, descent: Descent, update: int) -> None:
        """Play some episodes and learn from them."""
        settings = self.settings
        descent.learning_rate = settings.rate(update)
        network = self._network(descent.parameters)
        groups = [
            self._episodes(settings.same_instance, network) for _ in range(settings.episodes // settings.same_instance)
        ]
        episodes = [episode for group in groups for episode in group]
        if not episodes:
            return
        if start.scale is None:  # there was no imitation
            start.scale = ValueScale.of(_returns(episodes))
        judged = judged_decisions(groups, self._learner, descent.parameters, start.scale, settings.trace_decay)
        batch = _batch(episodes, judged, start.scale)
        losses = []
        for _ in range(settings.passes):
            order = np.arange(len(batch.slot)) if settings.passes == 1 else self._order_rng.permutation(len(batch.slot))
            size = len(order) if settings.passes == 1 else settings.chunk
            for begin in range(0, len(order), size):
                rows = order[begin : begin + size]
                gradient, parts = self._learner.gradient(
                    descent.parameters, batch, settings.entropy_weight(update), rows
                )
                descent.step(gradient)
                losses.append(parts)
        mean_jct = float(np.mean([episode.mean_jct for episode in episodes]))
        start.add_update(mean_jct / self._kappa, losses[0].value, losses[0].entropy)

    def _validate(
        self, start: TrainingStart, validation: Sequence[JobsInstance], parameters: Parameters, updates: int
    ) -> None:
        """Measure a network; keep it if it is the best."""
        network = self._network(parameters)
        ratio = float((mean_jcts(self.settings, validation, network) / self.teacher_).mean())
        start.add_validation(updates, ratio, network)


def _returns(episodes: Sequence[RecordedEpisode]) -> NDArray[np.float64]:
    """Return the return of every decision, in units of kappa: targets with lambda 1, which use no values."""
    return np.concatenate([decision_targets(one, np.zeros(one.num_decisions), 1.0) for one in episodes])


def _batch(episodes: Sequence[RecordedEpisode], judged: Judged, scale: ValueScale) -> DecisionBatch:
    """Return the decisions of episodes with their training data."""
    return DecisionBatch(
        seen=join_observations([episode.seen for episode in episodes]),
        slot=np.concatenate([episode.slot for episode in episodes]),
        advantage=judged.advantage.astype(np.float32),
        target=scale.values(judged.target).astype(np.float32),
        weight=np.zeros(len(judged.target), dtype=np.float32),
        logarithm=judged.logarithm.astype(np.float32),
    )
