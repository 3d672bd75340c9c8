"""Training of the network that places tasks: desired loads, rewards, replay, Double-DQN updates, checkpoints."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.list_scheduling import UNIFORM, place_by_list
from heuristics.dag.load_vector import running_loads
from heuristics.dag.priorities import noisy_ranks, placement_order
from heuristics.dag.rtgs.population import desired_loads, draw_round
from heuristics.dag.worl_rtgs.episode import EpisodeRecord, play_recording
from heuristics.dag.worl_rtgs.evaluate import heft_fitness, near_heft, network_fitness, ratios
from heuristics.dag.worl_rtgs.features import NUM_FEATURES, episode_data
from heuristics.dag.worl_rtgs.network import DOES_NOT_FIT, Weights, initial_weights
from heuristics.dag.worl_rtgs.training_instances import GPUS, training_stream
from heuristics.jax_options import COMPILER_OPTIONS
from heuristics.search.clock import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from heuristics.dag.arrays import DagArrays
    from heuristics.dag.timeline import Timeline
    from heuristics.dag.worl_rtgs.features import EpisodeData
    from heuristics.dag.worl_rtgs.training_config import TrainingConfig
    from instances.dag.instance import DagInstance


def training_loads(instance: DagInstance, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Return desired loads in ticks, shape (count, n), of random whales that HEFT's placement leads; ours.

    Every row is the move of RTGS on running loads (`desired_loads`) of one random whale, with a uniform in [0, 2]: the
    target is HEFT's placement or another random one.
    """
    arrays, data = dag_arrays(instance), episode_data(instance)
    placements = [place_by_list(arrays, data.rank).gpu]
    for _ in range(count):
        keys = rng.random(instance.num_tasks)
        placements.append(place_by_list(arrays, data.rank, rule=UNIFORM, gpu_keys=keys).gpu)
    position = running_loads(instance.durations, np.array(placements), data.order)
    draws = draw_round(rng, count + 1, instance.num_tasks)
    return desired_loads(position, 0, float(rng.uniform(0.0, 2.0)), draws)


def loads_of_placements(
    instance: DagInstance, rng: np.random.Generator, orders: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the running loads of placements near HEFT's, in ticks, one row for each order of tasks; ours.

    In every row a share of the tasks, itself drawn uniformly, goes to GPUs drawn uniformly where these are allowed and
    fit. A whale that follows its desired loads exactly has that placement again. `orders` has shape (count, n).
    """
    arrays = dag_arrays(instance)
    heft = place_by_list(arrays).gpu
    return np.array([running_loads(instance.durations, near_heft(arrays, heft, rng), order) for order in orders])


def expected_makespans(
    arrays: DagArrays, data: EpisodeData, timeline: Timeline
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a lower bound of the final makespan in each state of an episode, and the makespan so far; ours.

    E(s) bounds the makespan of every continuation from s: it is the largest of LB, finish + O over the placed tasks (O:
    onward cost), and the mean load of a GPU when all other tasks take their smallest duration. It never falls, and
    after the last placement it is the makespan. The tasks were placed in the order of `data`.

    Returns
    -------
    tuple
        E and the makespan of the placed tasks, before each placement and after the last one, in ticks, shape (n + 1,)
        each.
    """
    order = data.order
    gpu, finish = timeline.gpu[order], timeline.finish[order]
    shortest = np.where(arrays.allowed, arrays.durations, np.iinfo(np.int64).max).min(axis=1)[order]
    beyond = arrays.durations[order, gpu] - shortest
    load = (shortest.sum() + np.concatenate([[0], np.cumsum(beyond)])) / arrays.durations.shape[1]
    path = np.maximum.accumulate(np.concatenate([[0], finish + data.onward[order, gpu]]))
    makespan = np.maximum.accumulate(np.concatenate([[0], finish])).astype(np.float64)
    expected = np.maximum(np.maximum(load, path), data.lower_bound)
    expected[-1] = makespan[-1]
    return expected, makespan


def shaped_rewards(
    reward: NDArray[np.float64],
    expected: NDArray[np.float64],
    makespan: NDArray[np.float64],
    *,
    lower_bound: float,
    unit: float,
    gamma: float,
) -> NDArray[np.float64]:
    """Return rewards, shape (n,), shaped by the expected makespan E, with the makespan C measured in another unit.

    The term -(C' - C) / LB of `play_recording` becomes -(C' - C) / U + gamma Phi(s') - Phi(s), Phi(s) = (C(s) - E(s)) /
    U; with discount gamma = 1 that is -(E(s') - E(s)) / U. Desired loads and overflow count as before.

    Parameters
    ----------
    expected, makespan
        E and C, see `expected_makespans`.
    lower_bound
        LB in ticks.
    unit
        U in ticks. LB is far from the optimum where one GPU is much faster than the others, and errors on such
        instances would outweigh all others; HEFT's makespan is near the optimum everywhere.

    References
    ----------
    Ng, Harada and Russell (1999), Policy invariance under reward transformations, ICML: gamma Phi(s') - Phi(s) leaves
    the best behaviour unchanged.
    """
    growth, potential = np.diff(makespan), (makespan - expected) / unit
    return reward + growth / lower_bound - growth / unit + gamma * potential[1:] - potential[:-1]


class ReplayBatch(NamedTuple):
    """Transitions for several updates, one batch each; padded to m GPUs, the last axis of rows holds the features."""

    rows: NDArray[np.float32]  # (updates, batch, m, features), of the state
    fits: NDArray[np.bool_]  # (updates, batch, m), GPUs that fit in the state
    action: NDArray[np.int32]  # (updates, batch), chosen GPU
    reward: NDArray[np.float32]  # (updates, batch), until the next state
    next_rows: NDArray[np.float32]  # (updates, batch, m, features)
    next_fits: NDArray[np.bool_]  # (updates, batch, m)
    discount: NDArray[np.float32]  # (updates, batch), of the next state's value; 0 at the end of an episode


class Replay:
    """A ring buffer of states in the order in which episodes visited them, so that each state is stored once.

    Parameters
    ----------
    capacity
        Number of states that are kept; the oldest are overwritten.
    max_gpus
        Number of GPUs that rows are padded to.
    discount
        Gamma, in (0, 1].
    horizon
        Placements from a state to the next state of its transition, the rewards between them summed; 1 is standard.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    def __init__(
        self, capacity: int, max_gpus: int, num_features: int, *, discount: float = 1.0, horizon: int = 1
    ) -> None:
        if capacity < 1:
            raise ValueError(f"capacity: expected at least 1, got {capacity}.")
        if not 0.0 < discount <= 1.0:
            raise ValueError(f"discount: expected a number in (0, 1], got {discount}.")
        if horizon < 1:
            raise ValueError(f"horizon: expected at least 1, got {horizon}.")
        self.size = 0
        self._capacity, self._discount, self._horizon = capacity, discount, horizon
        self._head = 0  # slot of the next state
        self._rows = np.zeros((capacity, max_gpus, num_features), dtype=np.float32)
        self._fits = np.zeros((capacity, max_gpus), dtype=np.bool_)
        self._action = np.zeros(capacity, dtype=np.int32)
        self._reward = np.zeros(capacity, dtype=np.float32)
        self._onward = np.zeros(capacity, dtype=np.float32)

    def add(
        self, rows: NDArray[np.float32], fits: NDArray[np.bool_], action: NDArray[np.int64], reward: NDArray[np.float64]
    ) -> None:
        """Add one episode; its arrays are those of `EpisodeRecord`, with at most `max_gpus` GPUs.

        Raises a `ValueError` if the episode is longer than the ring, or has more GPUs than rows are padded to.
        """
        m = rows.shape[1]
        if m > self._rows.shape[1]:
            raise ValueError(f"rows: expected at most {self._rows.shape[1]} GPUs, got {m}.")
        n = len(action)
        if n > self._capacity:
            raise ValueError(f"rows: expected at most {self._capacity} states, got {n}.")
        slots = (self._head + np.arange(n)) % self._capacity
        self._rows[slots], self._fits[slots] = 0.0, False
        self._rows[slots, :m], self._fits[slots, :m] = rows, fits
        self._action[slots] = action
        to_end = np.zeros(n + 1)  # discounted rewards from a state to the end
        for step in range(n - 1, -1, -1):
            to_end[step] = reward[step] + self._discount * to_end[step + 1]
        after = np.minimum(np.arange(n) + self._horizon, n)
        onward = np.where(after < n, self._discount**self._horizon, 0.0)
        self._reward[slots] = to_end[:n] - onward * to_end[after]
        self._onward[slots] = onward
        self._head = (self._head + n) % self._capacity
        self.size = min(self.size + n, self._capacity)

    def sample(self, rng: np.random.Generator, *, updates: int, batch: int) -> ReplayBatch:
        """Draw transitions uniformly, with replacement; raises a `ValueError` if there are none."""
        if self.size == 0:
            raise ValueError("replay: expected an episode before a sample, got none.")
        slots = rng.integers(self.size, size=(updates, batch))
        discount = self._onward[slots]
        # the ring holds successive states of an episode in sequence; at its end any state serves, with discount 0
        after = np.where(discount > 0, (slots + self._horizon) % self._capacity, slots)
        return ReplayBatch(
            self._rows[slots],
            self._fits[slots],
            self._action[slots],
            self._reward[slots],
            self._rows[after],
            self._fits[after],
            discount,
        )


class LearnerState(NamedTuple):
    """State of the learner, replaced by every update."""

    online: Weights
    target: Weights
    optimiser: Any


class DoubleDqn:
    """Double-DQN with a target network, Huber loss (delta 1) and Adam.

    The learning rate falls along a cosine to 0 after the given number of updates; the norm of the gradient over all
    weights is clipped.

    References
    ----------
    van Hasselt, Guez and Silver (2016), Deep Reinforcement Learning with Double Q-learning, AAAI: the target. Kingma
    and Ba (2015): Adam. Mnih et al. (2015): replay and target network. That the published hybrid of WOA and "DDQN"
    learns in this way is our interpretation; sizes and rates are ours.
    """

    def __init__(self, *, learning_rate: float, updates: int, max_norm: float) -> None:
        self._start, self._run = _compiled_updates(learning_rate, max(1, updates), max_norm)

    def start(self, weights: Weights) -> LearnerState:
        """Return the state before the first update."""
        online: Any = Weights(*(jnp.asarray(array) for array in weights))  # type: ignore[arg-type]  # JAX arrays
        return LearnerState(online, online, self._start(online))

    def update(self, state: LearnerState, batch: ReplayBatch) -> tuple[LearnerState, float]:
        """Make one update per batch; return the new state and the mean loss. Each number of updates compiles once."""
        state, losses = self._run(state, batch)
        return state, float(jnp.mean(losses))

    @staticmethod
    def copy_to_target(state: LearnerState) -> LearnerState:
        """Return the state with the online weights as target (a hard copy)."""
        return state._replace(target=state.online)

    @staticmethod
    def weights(state: LearnerState) -> Weights:
        """Return the online weights as NumPy arrays."""
        return Weights(*(np.array(array, dtype=np.float32) for array in state.online))


@cache
def _compiled_updates(learning_rate: float, updates: int, max_norm: float) -> tuple[Any, Any]:
    """Return the initial state of the optimiser and the updates of many batches, compiled once per process."""
    schedule = optax.cosine_decay_schedule(learning_rate, updates)
    optimiser = optax.chain(optax.clip_by_global_norm(max_norm), optax.adam(schedule))

    def step(state: LearnerState, batch: ReplayBatch) -> tuple[LearnerState, jax.Array]:
        """Make one update."""
        y = targets(state.online, state.target, batch)
        loss, gradient = jax.value_and_grad(huber_loss)(state.online, batch, y)
        changes, moments = optimiser.update(gradient, state.optimiser, state.online)
        return LearnerState(optax.apply_updates(state.online, changes), state.target, moments), loss

    def scan(state: LearnerState, batches: ReplayBatch) -> tuple[LearnerState, jax.Array]:
        """Make the updates one after the other."""
        return jax.lax.scan(step, state, batches)

    return optimiser.init, jax.jit(scan, compiler_options=COMPILER_OPTIONS)


def q_values_in_jax(weights: Weights, rows: ArrayLike, fits: ArrayLike) -> jax.Array:
    """Return Q of every GPU, shape (..., m), float32: the network of `heuristics.dag.worl_rtgs.network` on many states.

    The features have shape (..., m, features). Where a GPU does not fit, they are ignored and Q is `DOES_NOT_FIT`.
    """
    rows, fits = jnp.asarray(rows), jnp.asarray(fits)
    own, mask = rows.shape[-1], fits[..., jnp.newaxis]
    count = jnp.maximum(mask.sum(axis=-2), 1)
    mean = jnp.where(mask, rows, 0.0).sum(axis=-2) / count
    largest = jnp.where(mask, rows, -jnp.inf).max(axis=-2)
    largest = jnp.where(mask.any(axis=-2), largest, 0.0)
    # the context is the same for all GPUs of a state: its part of the first layer is computed once
    context = jnp.concatenate([mean, largest], axis=-1) @ weights.w1[own:] + weights.b1
    hidden = jax.nn.relu(rows @ weights.w1[:own] + context[..., jnp.newaxis, :])
    hidden = jax.nn.relu(hidden @ weights.w2 + weights.b2)
    q = (hidden @ weights.w3 + weights.b3)[..., 0]
    return jnp.where(fits, q, DOES_NOT_FIT)


def double_dqn_target(reward: ArrayLike, discount: ArrayLike, online: ArrayLike, target: ArrayLike) -> jax.Array:
    """Return y = reward + discount Q_target(s', argmax of Q_online(s', .)).

    Parameters
    ----------
    reward, discount
        Shape (...); the discount is 0 at the end.
    online, target
        Q of both networks in s', shape (..., m); `DOES_NOT_FIT` in `online` where the GPU does not fit.
    """
    chosen = jnp.argmax(jnp.asarray(online), axis=-1)
    value = jnp.take_along_axis(jnp.asarray(target), chosen[..., jnp.newaxis], axis=-1)[..., 0]
    return jnp.asarray(reward) + jnp.asarray(discount) * value


def targets(online: Weights, target: Weights, batch: ReplayBatch) -> jax.Array:
    """Return the target of every transition of one batch, shape (batch,)."""
    online_q = q_values_in_jax(online, batch.next_rows, batch.next_fits)
    target_q = q_values_in_jax(target, batch.next_rows, batch.next_fits)
    return double_dqn_target(batch.reward, batch.discount, online_q, target_q)


def huber_loss(weights: Weights, batch: ReplayBatch, y: jax.Array) -> jax.Array:
    """Return the mean Huber loss (delta 1) of the chosen GPUs against the targets of one batch."""
    q = q_values_in_jax(weights, batch.rows, batch.fits)
    chosen = jnp.take_along_axis(q, jnp.asarray(batch.action)[..., jnp.newaxis], axis=-1)[..., 0]
    loss: jax.Array = optax.huber_loss(chosen, y).mean()
    return loss


class DdqnCurvePoint(NamedTuple):
    """A measurement on the validation instances during training."""

    steps: int
    validation_ratio: float  # mean makespan / HEFT's, see `ratios`
    loss: float | None  # mean since the previous point; None before the first update


class DdqnTrainer:
    """Trains the network of `heuristics.dag.worl_rtgs.network`; our interpretation, see `DoubleDqn`.

    The network learns to minimise the makespan. With `TrainingConfig.shaping`, values are in units of HEFT's makespan
    and measure how much a placement increases the expected makespan (`shaped_rewards`). The same computer, versions,
    seed and arguments give the same weights bit for bit.

    Parameters
    ----------
    seed
        Seeds five generators: for start weights, stream, desired loads, exploration and replay.

    Attributes
    ----------
    weights_
        The network that was best on the validation instances.
    start_weights_
        The network before training.
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
        on_progress: Callable[[int, DdqnCurvePoint], None] = lambda steps, point: None,
    ) -> DdqnTrainer:
        """Train and return the trainer itself; Ctrl-C ends the training and keeps the best network so far.

        Parameters
        ----------
        validation
            One or more instances on which the best network is chosen.
        stream
            Generates training instances without end from random numbers.
        max_gpus
            Most GPUs of an instance of the stream.
        start
            Initial weights; random ones from the seed by default.
        on_progress
            Receives the number of steps and the latest measurement after every instance.
        """
        watch = Stopwatch()
        weights_rng, stream_rng, self._loads_rng, self._play_rng, self._replay_rng = (
            np.random.default_rng(child) for child in np.random.SeedSequence(self.seed).spawn(5)
        )
        self.weights_ = self.start_weights_ = initial_weights(weights_rng) if start is None else start
        self.best_ratio_ = np.inf
        self.curve_: list[DdqnCurvePoint] = []
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
        """Place the tasks of an instance several times and learn from the placements."""
        config, n, m = self.config, instance.num_tasks, instance.num_gpus
        arrays, data = dag_arrays(instance), episode_data(instance)
        weights = np.where(
            self._loads_rng.random(config.episodes) < config.wish_share, self._loads_rng.random(config.episodes), 0.0
        )
        orders = np.tile(data.order, (config.episodes, 1))
        if config.orders == "rank-noise":
            noisy = noisy_ranks(data.rank, self._loads_rng, config.episodes)
            orders = np.array([placement_order(arrays, priority) for priority in noisy])
        if config.wishes == "placements":
            loads = loads_of_placements(instance, self._loads_rng, orders)
        else:
            loads = training_loads(instance, self._loads_rng, config.episodes)
        rows, fits = np.zeros((n, m, NUM_FEATURES), dtype=np.float32), np.zeros((n, m), dtype=np.bool_)
        action, unit = np.zeros(n, dtype=np.int64), float(max(1, heft_fitness([instance])[0, 1]))
        for order, desired, lam in zip(orders, loads, weights.tolist(), strict=True):
            data = data._replace(order=order)
            uniforms, reward = self._play_rng.random((n, 2)), np.zeros(n)
            epsilon = config.epsilon(self._steps)
            record = EpisodeRecord(rows, fits, action, reward)
            timeline = play_recording(arrays, data, self._acting, desired, lam, epsilon, uniforms, record)
            reward -= (config.obedience - 1.0) * lam / n * np.abs(rows[np.arange(n), action, 0])
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
        """Measure the acting network and keep it if it is the best; on a tie the older one stays the best."""
        ratio = float(ratios(network_fitness(validation, self._acting), heft).mean())
        loss = float(np.mean(self._losses)) if self._losses else None
        self.curve_.append(DdqnCurvePoint(self._steps, ratio, loss))
        self._losses = []
        if ratio < self.best_ratio_:
            self.best_ratio_, self.weights_ = ratio, self._acting
