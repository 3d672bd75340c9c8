"""Training of the network that places tasks: episodes, replay, Double-DQN updates, checkpoints by validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heuristics.dag.dag_arrays import dag_arrays
from heuristics.dag.worl_rtgs.double_dqn import DoubleDqn
from heuristics.dag.worl_rtgs.episode import play_recording
from heuristics.dag.worl_rtgs.evaluate import heft_fitness, network_fitness, ratios
from heuristics.dag.worl_rtgs.features import NUM_FEATURES, episode_data
from heuristics.dag.worl_rtgs.network import initial_weights
from heuristics.dag.worl_rtgs.replay import Replay
from heuristics.dag.worl_rtgs.shaping import expected_makespans, shaped_rewards
from heuristics.dag.worl_rtgs.training_stream import GPUS, training_stream
from heuristics.dag.worl_rtgs.training_wishes import training_wishes
from heuristics.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from heuristics.dag.worl_rtgs.double_dqn import LearnerState
    from heuristics.dag.worl_rtgs.network import Weights
    from heuristics.dag.worl_rtgs.training_config import TrainingConfig
    from instances.dag_instance import DagInstance


class CurvePoint(NamedTuple):
    """A measurement during training."""

    steps: int
    validation_ratio: float  # mean makespan / HEFT's on the validation instances, see `ratios`
    loss: float | None  # mean since the point before; None before the first update


class DdqnTrainer:
    """Trains the network of `heuristics.dag.worl_rtgs.network`; our interpretation, see `DoubleDqn`.

    The makespan is what it learns to keep small. With `TrainingConfig.shaping` values are in units of HEFT's makespan
    and tell what a placement adds to what was to be expected (`shaped_rewards`). The same computer, versions, seed and
    arguments give the same weights bit for bit.

    Parameters
    ----------
    config
        The numbers of the training.
    seed
        Of everything random: start weights, stream, wishes, exploration and replay draw from generators of their own.

    Attributes
    ----------
    weights_
        The network that was best on the validation instances.
    start_weights_
        The one before training.
    best_ratio_
        Mean ratio of `weights_` on the validation instances.
    curve_
        Measurements, the first one before training.
    seconds_
        Wall time of `fit`.
    is_interrupted_
        Whether Ctrl-C ended the training.
    """

    def __init__(self, config: TrainingConfig, *, seed: int) -> None:
        self.config = config
        self.seed = seed

    def fit(
        self,
        validation: Sequence[DagInstance],
        *,
        stream: Callable[[np.random.Generator], Iterator[DagInstance]] = training_stream,
        max_gpus: int = GPUS[1],
        start: Weights | None = None,
        on_progress: Callable[[int, CurvePoint], None] = lambda steps, point: None,
    ) -> DdqnTrainer:
        """Train; Ctrl-C ends the training and keeps the best network so far.

        Parameters
        ----------
        validation
            Instances on which the best network is chosen, at least one.
        stream
            Makes the endless training instances from a generator of random numbers.
        max_gpus
            Most GPUs of an instance of the stream.
        start
            Weights to begin with; default random ones from the seed.
        on_progress
            Told after every instance: steps made, the latest measurement.

        Returns
        -------
        DdqnTrainer
            This one.
        """
        watch = Stopwatch()
        weights_rng, stream_rng, self._wish_rng, self._play_rng, self._replay_rng = (
            np.random.default_rng(child) for child in np.random.SeedSequence(self.seed).spawn(5)
        )
        self.weights_ = self.start_weights_ = initial_weights(weights_rng) if start is None else start
        self.best_ratio_ = np.inf
        self.curve_: list[CurvePoint] = []
        self.is_interrupted_ = False
        self._acting = self.start_weights_
        self._losses: list[float] = []
        self._updates = self._steps = 0
        config = self.config
        self._learner = DoubleDqn(learning_rate=config.learning_rate, updates=config.updates, max_norm=config.max_norm)
        self._state: LearnerState = self._learner.start(self.start_weights_)
        self._replay = Replay(config.replay, max_gpus, NUM_FEATURES, discount=config.gamma, horizon=config.horizon)
        heft = heft_fitness(validation)
        self._validate(validation, heft)
        try:
            for instance in stream(stream_rng):
                self._play_instance(instance)
                if self._steps >= config.steps:
                    break
                if self._steps // config.validate_every > self.curve_[-1].steps // config.validate_every:
                    self._validate(validation, heft)
                on_progress(self._steps, self.curve_[-1])
            self._validate(validation, heft)
        except KeyboardInterrupt:
            self.is_interrupted_ = True
        self.seconds_ = watch.seconds
        return self

    def _play_instance(self, instance: DagInstance) -> None:
        """Place the tasks of an instance several times, and learn."""
        config, n, m = self.config, instance.num_tasks, instance.num_gpus
        arrays, data = dag_arrays(instance), episode_data(instance)
        weight = np.where(
            self._wish_rng.random(config.episodes) < config.wish_share, self._wish_rng.random(config.episodes), 0.0
        )
        wishes = training_wishes(instance, self._wish_rng, config.episodes)
        rows, fits = np.zeros((n, m, NUM_FEATURES), dtype=np.float32), np.zeros((n, m), dtype=np.bool_)
        action, unit = np.zeros(n, dtype=np.int64), float(max(1, heft_fitness([instance])[0, 1]))
        for wish, lam in zip(wishes, weight.tolist(), strict=True):
            uniforms, reward = self._play_rng.random((n, 2)), np.zeros(n)
            epsilon = config.epsilon(self._steps)
            timeline = play_recording(
                arrays, data, self._acting, wish, lam, epsilon, uniforms, rows, fits, action, reward
            )
            if config.shaping:
                reward = shaped_rewards(
                    reward,
                    *expected_makespans(arrays, data, timeline),
                    lower_bound=data.lower_bound,
                    unit=unit,
                    gamma=config.gamma,
                )
            self._replay.add(rows, fits, action, reward)
            self._steps += n
            self._learn()

    def _learn(self) -> None:
        """Make the updates that are due."""
        config = self.config
        due = min(config.updates, (self._steps - config.warm_up) // config.steps_per_update)
        while self._updates + config.updates_per_call <= due:
            batches = self._replay.sample(self._replay_rng, updates=config.updates_per_call, batch=config.batch)
            self._state, loss = self._learner.update(self._state, batches)
            self._losses.append(loss)
            self._updates += config.updates_per_call
            if self._updates % config.target_every == 0:
                self._state = self._learner.copy_to_target(self._state)
            self._acting = self._learner.weights(self._state)

    def _validate(self, validation: Sequence[DagInstance], heft: np.ndarray) -> None:
        """Measure the acting network; keep it where it is the best, the older one on a tie."""
        ratio = float(ratios(network_fitness(validation, self._acting), heft).mean())
        loss = float(np.mean(self._losses)) if self._losses else None
        self.curve_.append(CurvePoint(self._steps, ratio, loss))
        self._losses = []
        if ratio < self.best_ratio_:
            self.best_ratio_, self.weights_ = ratio, self._acting
