"""Tests of the Double-DQN update against one computed by hand."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import jax
import numpy as np
import pytest
from hypothesis import given, settings

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.load_vector import running_loads
from heuristics.dag.worl_rtgs import network
from heuristics.dag.worl_rtgs import train as double_dqn
from heuristics.dag.worl_rtgs.episode import play
from heuristics.dag.worl_rtgs.evaluate import compare, heft_fitness, network_fitness, ratios, rtgs_greedy_fitness
from heuristics.dag.worl_rtgs.features import episode_data
from heuristics.dag.worl_rtgs.network import DOES_NOT_FIT, NUM_HIDDEN, Weights, initial_weights, weights_sha256
from heuristics.dag.worl_rtgs.train import (
    DdqnTrainer,
    DoubleDqn,
    Replay,
    ReplayBatch,
    double_dqn_target,
    expected_makespans,
    loads_of_placements,
    shaped_rewards,
)
from heuristics.dag.worl_rtgs.training_config import TrainingConfig
from heuristics.dag.worl_rtgs.training_instances import fine_tuning_stream, training_stream, validation_instances
from heuristics.jax_options import COMPILER_OPTIONS
from tests.compiled import compiled
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from collections.abc import Iterator

    from instances.dag.instance import DagInstance

numba_q_values = compiled(network.q_values)

RATE, MAX_NORM = 1e-2, 10.0

# compiled as wholes: one by one, their operations take seconds to compile
q_values, huber_loss, targets = (
    jax.jit(function) for function in (double_dqn.q_values_in_jax, double_dqn.huber_loss, double_dqn.targets)
)

pytestmark = pytest.mark.whole


def _batch(rng: np.random.Generator, count: int = 6, m: int = 4) -> ReplayBatch:
    """Return one update's transitions; the last one ends its episode, rewards are large enough for Huber's far side."""

    def fits() -> np.ndarray:
        flags = rng.random((1, count, m)) < 0.6
        flags[..., 1] = True
        return flags

    here, after = fits(), fits()
    action = np.array([[rng.choice(np.flatnonzero(row)) for row in here[0]]], dtype=np.int32)
    discount = np.full((1, count), 0.9, dtype=np.float32)
    discount[0, -1] = 0.0
    return ReplayBatch(
        rng.uniform(-1, 1, (1, count, m, 12)).astype(np.float32),
        here,
        action,
        -rng.uniform(0, 4, (1, count)).astype(np.float32),
        rng.uniform(-1, 1, (1, count, m, 12)).astype(np.float32),
        after,
        discount,
    )


def _plain_forward(weights: Weights, rows: np.ndarray, fits: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return inputs, hidden layers before and after ReLU, and Q of one state, one GPU that fits per row."""
    own = rows[fits].astype(np.float64)
    inputs = np.hstack([own, np.tile(own.mean(axis=0), (len(own), 1)), np.tile(own.max(axis=0), (len(own), 1))])
    before1 = inputs @ weights.w1 + weights.b1
    after1 = np.where(before1 > 0, before1, 0)
    before2 = after1 @ weights.w2 + weights.b2
    after2 = np.where(before2 > 0, before2, 0)
    return inputs, before1, after1, before2, after2, (after2 @ weights.w3 + weights.b3)[:, 0]


def _plain_q(weights: Weights, rows: np.ndarray, fits: np.ndarray) -> np.ndarray:
    """Return Q of all GPUs of one state."""
    q = np.full(len(fits), float(DOES_NOT_FIT))
    q[fits] = _plain_forward(weights, rows, fits)[-1]
    return q


def _plain_gradient(online: Weights, target: Weights, batch: ReplayBatch) -> tuple[float, Weights, np.ndarray]:
    """Return loss, gradient and targets, by the chain rule written out."""
    count = batch.action.shape[1]
    loss, goals = 0.0, np.zeros(count)
    gradient = Weights(*(np.zeros(array.shape) for array in online))
    for t in range(count):
        best = int(np.argmax(_plain_q(online, batch.next_rows[0, t], batch.next_fits[0, t])))
        value = _plain_q(target, batch.next_rows[0, t], batch.next_fits[0, t])[best]
        goals[t] = batch.reward[0, t] + batch.discount[0, t] * value
        fits = batch.fits[0, t]
        inputs, before1, after1, before2, after2, q = _plain_forward(online, batch.rows[0, t], fits)
        chosen = int(fits[: batch.action[0, t]].sum())  # its place among those that fit
        error = q[chosen] - goals[t]
        loss += (0.5 * error**2 if abs(error) <= 1 else abs(error) - 0.5) / count
        at_q = np.clip(error, -1, 1) / count  # derivative of Huber's loss
        at_second = at_q * online.w3[:, 0] * (before2[chosen] > 0)
        at_first = (online.w2 @ at_second) * (before1[chosen] > 0)
        for total, term in zip(
            gradient,
            (
                np.outer(inputs[chosen], at_first),
                at_first,
                np.outer(after1[chosen], at_second),
                at_second,
                at_q * after2[chosen][:, None],
                np.array([at_q]),
            ),
            strict=True,
        ):
            total += term
    return loss, gradient, goals


@pytest.fixture(scope="module", autouse=True)
def _optimised() -> Iterator[None]:
    """Compile as outside of tests: these trainings take thousands of steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(COMPILER_OPTIONS, "xla_backend_optimization_level", 1)
        yield


@pytest.fixture
def online() -> Weights:
    """Return a network with biases and an output of order 1."""
    rng = np.random.default_rng(1)
    weights = initial_weights(rng)
    biases = {name: rng.normal(0, 0.1, getattr(weights, name).shape).astype(np.float32) for name in ("b1", "b2", "b3")}
    return weights._replace(w3=10 * weights.w3, **biases)


@pytest.fixture
def target() -> Weights:
    """Return another network."""
    return initial_weights(np.random.default_rng(2))


def test_update_equals_one_computed_by_hand(online: Weights, target: Weights) -> None:
    """Tests targets, loss, gradient and both of the first two Adam steps against plain NumPy."""
    batch = _batch(np.random.default_rng(3))
    loss, gradient, goals = _plain_gradient(online, target, batch)
    one = ReplayBatch(*(array[0] for array in batch))
    np.testing.assert_allclose(targets(online, target, one), goals, atol=1e-5)
    assert float(huber_loss(online, one, goals.astype(np.float32))) == pytest.approx(loss, abs=1e-5)
    norm = np.sqrt(sum((array**2).sum() for array in gradient))
    assert 0.1 < norm < MAX_NORM  # nothing to clip

    learner = DoubleDqn(learning_rate=RATE, updates=10, max_norm=MAX_NORM)
    state, found = learner.update(learner.start(online)._replace(target=target), batch)
    assert found == pytest.approx(loss, abs=1e-5)
    first, second = (Weights(*(np.zeros(array.shape) for array in online)) for _ in range(2))
    expected = Weights(*(array.astype(np.float64) for array in online))
    for step in (1, 2):
        if step == 2:
            _, gradient, _ = _plain_gradient(Weights(*(array.astype(np.float32) for array in expected)), target, batch)
            state, _ = learner.update(state, batch)
        rate = RATE * 0.5 * (1 + np.cos(np.pi * (step - 1) / 10))
        for mean, square, slope, weight in zip(first, second, gradient, expected, strict=True):
            mean[:] = 0.9 * mean + 0.1 * slope
            square[:] = 0.999 * square + 0.001 * slope**2
            weight -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        for name, found_array, slope in zip(Weights._fields, learner.weights(state), gradient, strict=True):
            certain = np.abs(slope) > 1e-5  # Adam divides by the size of a slope: of tiny ones only rounding is left
            np.testing.assert_allclose(
                found_array[certain], getattr(expected, name)[certain], atol=1e-5, err_msg=f"{name}, step {step}"
            )
    assert all(np.array_equal(one, other) for one, other in zip(state.target, target, strict=True))


@pytest.mark.slow
def test_long_gradients_are_clipped(online: Weights, target: Weights) -> None:
    """Tests that a gradient is scaled to the largest norm: with Adam's first moment linear in it, moments show it."""
    batch = _batch(np.random.default_rng(4))
    _, gradient, _ = _plain_gradient(online, target, batch)
    norm = np.sqrt(sum((array**2).sum() for array in gradient))
    learner = DoubleDqn(learning_rate=RATE, updates=10, max_norm=float(norm / 4))
    state, _ = learner.update(learner.start(online)._replace(target=target), batch)
    (moments,) = [part for part in state.optimiser[1] if hasattr(part, "mu")]
    np.testing.assert_allclose(moments.mu.w2, 0.1 * gradient.w2 / 4, atol=1e-6)


def test_target_of_the_worked_example() -> None:
    """Tests y = -3/13 - 0.6: the online network chooses, the target network judges, GPU 2 does not fit."""
    online, judge = [-0.5, -0.2, float(DOES_NOT_FIT)], [-0.45, -0.6, float(DOES_NOT_FIT)]
    y = double_dqn_target(np.float32(-3 / 13), np.float32(1.0), np.float32(online), np.float32(judge))
    assert float(y) == pytest.approx(-0.8308, abs=5e-5)
    plain = -3 / 13 + max(judge)
    assert plain == pytest.approx(-0.6808, abs=5e-5)  # what a DQN with one network would take
    end = double_dqn_target(np.float32(-3 / 13), np.float32(0.0), np.float32(online), np.float32(judge))
    assert float(end) == pytest.approx(-3 / 13, abs=1e-6)


def test_forward_equals_that_of_inference(online: Weights) -> None:
    """Tests that JAX and Numba give the same Q within 1e-5, whichever GPUs fit."""
    rng = np.random.default_rng(5)
    for m in (1, 5):
        rows = rng.uniform(-1, 1, (30, m, 12)).astype(np.float32)
        fits = rng.random((30, m)) < 0.7
        fits[:, 0] |= ~fits.any(axis=1)
        expected, out = np.array(q_values(online, rows, fits)), np.empty(m, dtype=np.float32)
        for state in range(30):
            numba_q_values(online, rows[state], fits[state], out)
            np.testing.assert_allclose(out, expected[state], atol=1e-5)
        assert np.abs(expected[fits]).max() > 0.1


def test_rows_of_gpus_that_do_not_fit_count_nothing(online: Weights) -> None:
    """Tests that padding changes no value, and that a transition's loss does not depend on it."""
    rng = np.random.default_rng(6)
    rows, fits = rng.uniform(-1, 1, (5, 3, 12)).astype(np.float32), np.ones((5, 3), dtype=bool)
    padded = np.concatenate([rows, np.full((5, 2, 12), 7.0, dtype=np.float32)], axis=1)
    more = np.concatenate([fits, np.zeros((5, 2), dtype=bool)], axis=1)
    found = np.array(q_values(online, padded, more))
    np.testing.assert_allclose(found[:, :3], q_values(online, rows, fits), atol=1e-6)
    assert (found[:, 3:] == DOES_NOT_FIT).all()


@pytest.mark.slow
def test_several_updates_in_one_call_equal_single_ones(online: Weights) -> None:
    """Tests that three updates at once end where three calls end, and that the target is copied only when told."""
    rng = np.random.default_rng(7)
    parts = [_batch(rng) for _ in range(3)]
    learner = DoubleDqn(learning_rate=RATE, updates=10, max_norm=MAX_NORM)
    together, loss = learner.update(
        learner.start(online), ReplayBatch(*(np.concatenate(one) for one in zip(*parts, strict=True)))
    )
    state, losses = learner.start(online), []
    for part in parts:
        state, single = learner.update(state, part)
        losses.append(single)
    for one, other in zip(learner.weights(together), learner.weights(state), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    assert loss == pytest.approx(np.mean(losses), abs=1e-6)
    assert np.array_equal(state.target.w1, online.w1)
    assert np.array_equal(learner.copy_to_target(state).target.w1, state.online.w1)
    assert learner.weights(state).w2.shape == (NUM_HIDDEN, NUM_HIDDEN)


def _episode(n: int, m: int, first: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return an episode whose state t has the feature first + t on every GPU, and the reward -(t + 1)."""
    rows = np.broadcast_to((first + np.arange(n))[:, None, None], (n, m, 2)).astype(np.float32)
    return rows, np.ones((n, m), dtype=bool), np.arange(n) % m, -np.arange(1.0, n + 1.0)


def _transitions(replay: Replay) -> dict[float, tuple[float, float, float]]:
    """Return state -> (reward, discount, next state) of everything that a large sample holds, each state by feature."""
    batch = replay.sample(np.random.default_rng(0), updates=20, batch=50)
    state, after = batch.rows[..., 0, 0].ravel(), batch.next_rows[..., 0, 0].ravel()
    found: dict[float, tuple[float, float, float]] = {}
    for key, *value in zip(state, batch.reward.ravel(), batch.discount.ravel(), after, strict=True):
        assert found.setdefault(float(key), tuple(map(float, value))) == tuple(map(float, value))
    return found


def test_transitions_lead_to_the_next_state() -> None:
    """Tests that each transition has its own reward and next state, and that the last one of an episode ends it."""
    replay = Replay(100, 3, 2)
    replay.add(*_episode(3, 2, 10.0))
    replay.add(*_episode(2, 3, 20.0))
    found = _transitions(replay)
    assert {key: value[:2] for key, value in found.items()} == {
        10.0: (-1.0, 1.0),
        11.0: (-2.0, 1.0),
        12.0: (-3.0, 0.0),
        20.0: (-1.0, 1.0),
        21.0: (-2.0, 0.0),
    }
    assert (found[10.0][2], found[11.0][2], found[20.0][2]) == (11.0, 12.0, 21.0)


def test_ring_overwrites_the_oldest_states() -> None:
    """Tests that a full ring holds the latest states only, also where an episode goes round its end."""
    replay = Replay(7, 2, 2)
    for first in (10.0, 20.0, 30.0):
        replay.add(*_episode(4, 2, first))
    found = _transitions(replay)
    assert replay.size == 7
    assert set(found) == {21.0, 22.0, 23.0, 30.0, 31.0, 32.0, 33.0}
    assert found[22.0] == (-3.0, 1.0, 23.0)
    assert found[31.0] == (-2.0, 1.0, 32.0)
    assert found[33.0][:2] == (-4.0, 0.0)


def test_horizon_sums_discounted_rewards() -> None:
    """Tests that with horizon 2 and discount 0.5 a transition holds two rewards and the discount 0.25."""
    replay = Replay(10, 2, 2, discount=0.5, horizon=2)
    replay.add(*_episode(4, 2, 10.0))
    found = _transitions(replay)
    assert found[10.0] == (-1.0 - 0.5 * 2.0, 0.25, 12.0)
    assert found[11.0] == (-2.0 - 0.5 * 3.0, 0.25, 13.0)
    assert found[12.0][:2] == (-3.0 - 0.5 * 4.0, 0.0)
    assert found[13.0][:2] == (-4.0, 0.0)


def test_rows_are_padded() -> None:
    """Tests that GPUs that do not exist never fit and have rows of 0, also after larger episodes in the same slots."""
    replay = Replay(4, 3, 2)
    replay.add(*_episode(4, 3, 50.0))
    replay.add(*_episode(4, 1, 10.0))
    batch = replay.sample(np.random.default_rng(1), updates=1, batch=64)
    assert batch.rows.shape == (1, 64, 3, 2)
    assert batch.fits[..., 0].all()
    assert not batch.fits[..., 1:].any()
    assert (batch.rows[..., 1:, :] == 0).all()
    assert batch.rows.dtype == batch.reward.dtype == batch.discount.dtype == np.float32


def test_samples_are_uniform_and_seeded() -> None:
    """Tests that every state is drawn about equally often, and the same ones from the same seed."""
    replay = Replay(10, 2, 2)
    replay.add(*_episode(5, 2, 0.0))
    batch = replay.sample(np.random.default_rng(3), updates=10, batch=1000)
    counts = np.bincount(batch.rows[..., 0, 0].ravel().astype(int), minlength=5)
    assert counts.sum() == 10_000
    assert (np.abs(counts - 2000) < 200).all()  # five standard deviations
    again = replay.sample(np.random.default_rng(3), updates=10, batch=1000)
    assert all(np.array_equal(one, other) for one, other in zip(batch, again, strict=True))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"capacity": 0}, "capacity: expected at least 1, got 0."),
        ({"discount": 0.0}, "discount: expected a number in (0, 1], got 0.0."),
        ({"horizon": 0}, "horizon: expected at least 1, got 0."),
    ],
)
def test_parameters_are_checked(arguments: dict[str, float], message: str) -> None:
    """Tests that parameters out of range are refused."""
    with pytest.raises(ValueError) as caught:
        Replay(**{"capacity": 5, "max_gpus": 2, "num_features": 2, **arguments})
    assert str(caught.value) == message


def test_too_large_episodes_are_refused() -> None:
    """Tests that episodes with too many GPUs or states are refused, and a sample of nothing."""
    replay = Replay(5, 2, 2)
    with pytest.raises(ValueError, match="expected at most 2 GPUs, got 3"):
        replay.add(*_episode(2, 3, 0.0))
    with pytest.raises(ValueError, match="expected at most 5 states, got 6"):
        replay.add(*_episode(6, 2, 0.0))
    with pytest.raises(ValueError, match="expected an episode before a sample"):
        replay.sample(np.random.default_rng(0), updates=1, batch=1)


WEIGHTS = initial_weights(np.random.default_rng(0))


def _expected_makespans(instance: DagInstance) -> tuple[np.ndarray, int]:
    """Return E before and after each placement in ticks, and the makespan, of the untrained network's placement."""
    arrays, data = dag_arrays(instance), episode_data(instance)
    timeline = play(arrays, data, WEIGHTS, np.empty(0), 0.0, np.empty((0, 0)), 0.0)
    expected, makespan = expected_makespans(arrays, data, timeline)
    assert np.array_equal(makespan, np.maximum.accumulate(np.concatenate([[0], timeline.finish[data.order]])))
    return expected, int(timeline.finish.max())


def test_expected_makespans_of_the_example(example_e: DagInstance) -> None:
    """Tests E along one placement of example E by hand: onward costs, loads and LB 13."""
    arrays, data = dag_arrays(example_e), episode_data(example_e)
    timeline = play(arrays, data, WEIGHTS, np.empty(0), 0.0, np.empty((0, 0)), 0.0)
    onward = {(0, 0): 11, (0, 1): 13, (1, 0): 8, (1, 1): 3, (2, 0): 8, (2, 1): 8}
    shortest, expected, longest = [4, 3, 3, 3, 6], [13.0], 0
    for step, task in enumerate([0, 2, 1, 4, 3]):
        longest = max(longest, timeline.finish[task] + onward.get((task, int(timeline.gpu[task])), 0))
        placed = [0, 2, 1, 4, 3][: step + 1]
        work = sum(shortest[i] for i in range(5) if i not in placed)
        work += sum(int(example_e.durations[i, timeline.gpu[i]]) for i in placed)
        expected.append(max(13.0, longest, work / 2))
    found, makespan = _expected_makespans(example_e)
    assert found == pytest.approx(expected)
    assert found[-1] == makespan


@settings(max_examples=60, deadline=None)
@given(instance=dag_instances(max_jobs=2))
def test_expected_makespan_rises_to_the_makespan(instance: DagInstance) -> None:
    """Tests that E begins at LB or above, never falls, and ends at the makespan: so it is a lower bound throughout."""
    found, makespan = _expected_makespans(instance)
    assert found[0] >= episode_data(instance).lower_bound - 1e-9
    assert (np.diff(found) >= -1e-9).all() or makespan == 0
    assert found[-1] == pytest.approx(makespan)


def test_rewards_are_the_fall_of_what_is_expected() -> None:
    """Tests by hand: makespans 0, 4, 4, 6, expected 5, 5, 6, 6, LB 4, unit 10, a wish term in the second reward."""
    makespan, expected = np.array([0.0, 4.0, 4.0, 6.0]), np.array([5.0, 5.0, 6.0, 6.0])
    reward = np.array([-4 / 4, -0.25, -2 / 4])
    found = shaped_rewards(reward, expected, makespan, lower_bound=4.0, unit=10.0, gamma=1.0)
    assert found == pytest.approx([0.0, -0.25 - 0.1, 0.0])
    discounted = shaped_rewards(reward, expected, makespan, lower_bound=4.0, unit=10.0, gamma=0.5)
    assert discounted == pytest.approx([-0.4 - 0.05 + 0.5, -0.25 - 0.1 + 0.1, -0.2 + 0.2])


def test_returns_of_an_instance_differ_by_the_makespan_only(example_e: DagInstance) -> None:
    """Tests that shaped rewards add up to (E at the start - makespan) / unit, whatever is placed where."""
    arrays, data = dag_arrays(example_e), episode_data(example_e)
    for seed in range(5):
        weights = initial_weights(np.random.default_rng(seed))
        timeline = play(arrays, data, weights, np.empty(0), 0.0, np.empty((0, 0)), 0.0)
        expected, makespan = expected_makespans(arrays, data, timeline)
        reward = -np.diff(makespan) / data.lower_bound
        shaped = shaped_rewards(reward, expected, makespan, lower_bound=data.lower_bound, unit=18.0, gamma=1.0)
        assert shaped.sum() == pytest.approx((13 - timeline.finish.max()) / 18)
        assert (shaped <= 1e-12).all()


SHORT = TrainingConfig(steps=4_500, warm_up=500, validate_every=1_500, target_every=100, replay=5_000)


@pytest.fixture(scope="module")
def validation() -> list[DagInstance]:
    """Return a quarter of the validation instances."""
    return validation_instances()[::4]


@pytest.fixture(scope="module")
def trained(validation: list[DagInstance]) -> DdqnTrainer:
    """Return a training of some seconds."""
    return DdqnTrainer(SHORT, seed=3).fit(validation)


@pytest.mark.slow
def test_training_improves_over_its_own_start(trained: DdqnTrainer, validation: list[DagInstance]) -> None:
    """Tests that some seconds of training take away more than half of what the start loses against HEFT."""
    start, best = trained.curve_[0].validation_ratio, trained.best_ratio_
    assert best - 1.0 < 0.5 * (start - 1.0)
    assert min(point.validation_ratio for point in trained.curve_) == best
    found = compare(validation, trained.weights_, trained.start_weights_)
    assert found.mean_ratio == pytest.approx(best)
    assert found.mean_ratio_untrained == pytest.approx(start)
    assert found.better_than_untrained >= 0.75


def test_curve_covers_the_training(trained: DdqnTrainer) -> None:
    """Tests that the curve begins before training, goes on at the steps asked for, and has losses once there are."""
    steps = [point.steps for point in trained.curve_]
    assert steps[0] == 0
    assert [step // SHORT.validate_every for step in steps] == [0, 1, 2, 3]
    assert trained.curve_[0].loss is None
    assert all(point.loss is not None and 0 < point.loss < 1 for point in trained.curve_[1:])
    assert trained.seconds_ > 0
    assert not trained.is_interrupted_


def test_same_seed_same_bytes(trained: DdqnTrainer, validation: list[DagInstance]) -> None:
    """Tests that a training can be repeated bit for bit, and that another seed gives another network."""
    some = replace(SHORT, steps=700, validate_every=350)
    one, again = (DdqnTrainer(some, seed=3).fit(validation) for _ in range(2))
    assert again.curve_ == one.curve_
    assert weights_sha256(again.weights_) == weights_sha256(one.weights_)
    few = TrainingConfig(steps=100, warm_up=200)  # no update
    assert weights_sha256(DdqnTrainer(few, seed=4).fit(validation).start_weights_) != weights_sha256(
        trained.start_weights_
    )


def test_interrupting_keeps_the_best_so_far(validation: list[DagInstance]) -> None:
    """Tests that Ctrl-C ends the training with the best network that was measured."""

    def interrupted(rng: np.random.Generator) -> Iterator[DagInstance]:
        yield from itertools.islice(training_stream(rng), 20)
        raise KeyboardInterrupt

    trainer = DdqnTrainer(SHORT, seed=3).fit(validation, stream=interrupted)
    assert trainer.is_interrupted_
    assert trainer.best_ratio_ == min(point.validation_ratio for point in trainer.curve_)
    assert ratios(network_fitness(validation, trainer.weights_), heft_fitness(validation)).mean() == pytest.approx(
        trainer.best_ratio_
    )


@pytest.mark.slow
def test_fine_tuning_is_never_worse_than_its_start_on_the_instance(
    trained: DdqnTrainer, validation: list[DagInstance]
) -> None:
    """Tests that tuning to one instance begins with the given weights and keeps the best on that instance."""
    instance = validation[1]
    config = TrainingConfig(steps=1_500, warm_up=200, validate_every=300, learning_rate=1e-4, epsilon_start=0.1)
    tuned = DdqnTrainer(config, seed=0).fit(
        [instance],
        stream=fine_tuning_stream(instance, 0.1),
        max_gpus=instance.num_gpus,
        start=trained.weights_,
    )
    assert weights_sha256(tuned.start_weights_) == weights_sha256(trained.weights_)
    before = network_fitness([instance], trained.weights_)[0, 1]
    after = network_fitness([instance], tuned.weights_)[0, 1]
    assert after <= before
    assert len(tuned.curve_) >= 4


def test_rivals_are_judged_alike(example_e: DagInstance, example_e_with_memory: DagInstance) -> None:
    """Tests HEFT's fitness of example E, that overflow counts as 1 more, and that shares come from pairs."""
    assert heft_fitness([example_e, example_e_with_memory]).tolist() == [[0, 18], [0, 15]]
    assert ratios(np.array([[0, 9], [4, 18]]), np.array([[0, 18], [0, 18]])).tolist() == [0.5, 2.0]
    greedy = rtgs_greedy_fitness([example_e, example_e])
    assert greedy[0].tolist() == greedy[1].tolist()
    assert greedy[0, 1] >= 15
    weights = initial_weights(np.random.default_rng(0))
    same = compare([example_e], weights, weights)
    assert (same.better_than_untrained, same.equal_to_untrained) == (0.0, 1.0)


def test_obedience_weighs_the_desired_loads() -> None:
    """Tests that the term of the desired loads counts as often as asked for, the other rewards as before."""
    validation = validation_instances()[:1]
    asked = TrainingConfig(steps=300, warm_up=1_000, wishes="placements", orders="rank-noise", wish_share=1.0)
    once, thrice = (DdqnTrainer(replace(asked, obedience=weight), seed=4).fit(validation)._replay for weight in (1, 3))
    assert once.size == thrice.size >= 300
    chosen = once._rows[np.arange(once.size), once._action[: once.size]]
    assert np.array_equal(chosen, thrice._rows[np.arange(once.size), thrice._action[: once.size]])
    tasks = np.diff(np.flatnonzero(np.append(chosen[:, 10] == 0.0, True)))  # progress is 0 at the start of an episode
    term = np.abs(chosen[:, 0]) * chosen[:, 1] / np.repeat(tasks, tasks)
    assert term.max() > 0.0
    assert once._reward[: once.size] - thrice._reward[: once.size] == pytest.approx(2 * term, abs=1e-6)


def test_desired_loads_can_be_followed(example_e: DagInstance) -> None:
    """Tests that every row has the running loads of a placement: some placement of the five tasks has them all."""
    orders = np.array([[0, 1, 2, 3, 4], [0, 2, 1, 4, 3], [0, 2, 1, 3, 4]])
    rows = loads_of_placements(example_e, np.random.default_rng(5), orders)
    placements = np.array(list(itertools.product(range(example_e.num_gpus), repeat=5)))
    for row, order in zip(rows, orders, strict=True):
        assert (running_loads(example_e.durations, placements, order) == row).all(axis=1).any()
    assert len(np.unique(rows, axis=0)) > 1


def test_exploration_falls_linearly() -> None:
    """Tests epsilon at the start, half-way down, and after its share of the steps; and the number of updates."""
    config = TrainingConfig(steps=1_000, warm_up=200, epsilon_share=0.2)
    assert [config.epsilon(steps) for steps in (0, 100, 200, 900)] == pytest.approx([1.0, 0.525, 0.05, 0.05])
    assert config.updates == 200


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("steps", 0, "steps: expected at least 1, got 0."),
        ("gamma", 0.0, "gamma: expected a number above 0, at most 1, got 0.0."),
        ("epsilon_end", 1.5, "epsilon_end: expected a number in 0..1, got 1.5."),
        ("learning_rate", float("nan"), "learning_rate: expected a finite number above 0, got nan."),
        ("warm_up", -1, "warm_up: expected at least 0, got -1."),
        ("wishes", "dreams", "wishes: expected moves or placements, got 'dreams'."),
        ("orders", "uniform", "orders: expected rank or rank-noise, got 'uniform'."),
        ("obedience", -1.0, "obedience: expected a number in 0..1000, got -1.0."),
        ("updates_per_call", 30, "updates_per_call: expected a divisor of target_every, 500, got 30."),
    ],
)
def test_configuration_is_checked(field: str, value: float, message: str) -> None:
    """Tests that numbers out of range are refused in one sentence."""
    with pytest.raises(ValueError) as caught:
        TrainingConfig(**{field: value})
    assert str(caught.value) == message


def test_weights_are_plain_arrays(trained: DdqnTrainer) -> None:
    """Tests that what training returns is NumPy, float32 and C-contiguous, as the kernels want it."""
    assert isinstance(trained.weights_, Weights)
    assert all(type(array) is np.ndarray and array.dtype == np.float32 for array in trained.weights_)
    assert all(array.flags.c_contiguous for array in trained.weights_)
