"""Tests of the Double-DQN update against one computed by hand."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from heuristics.dag.worl_rtgs import double_dqn
from heuristics.dag.worl_rtgs.double_dqn import DoubleDqn, double_dqn_target
from heuristics.dag.worl_rtgs.network import DOES_NOT_FIT, NUM_HIDDEN, Weights, initial_weights
from heuristics.dag.worl_rtgs.network import q_values as numba_q_values
from heuristics.dag.worl_rtgs.replay import Batch

RATE, MAX_NORM = 1e-2, 10.0

# compiled as wholes: one by one, their operations take seconds to compile
q_values, huber_loss, targets = (
    jax.jit(function) for function in (double_dqn.q_values, double_dqn.huber_loss, double_dqn.targets)
)


def _batch(rng: np.random.Generator, count: int = 6, m: int = 4) -> Batch:
    """Return one update's transitions; the last one ends its episode, rewards are large enough for Huber's far side."""

    def fits() -> np.ndarray:
        flags = rng.random((1, count, m)) < 0.6
        flags[..., 1] = True
        return flags

    here, after = fits(), fits()
    action = np.array([[rng.choice(np.flatnonzero(row)) for row in here[0]]], dtype=np.int32)
    discount = np.full((1, count), 0.9, dtype=np.float32)
    discount[0, -1] = 0.0
    return Batch(
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


def _plain_gradient(online: Weights, target: Weights, batch: Batch) -> tuple[float, Weights, np.ndarray]:
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
    one = Batch(*(array[0] for array in batch))
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


def test_several_updates_in_one_call_equal_single_ones(online: Weights) -> None:
    """Tests that three updates at once end where three calls end, and that the target is copied only when told."""
    rng = np.random.default_rng(7)
    parts = [_batch(rng) for _ in range(3)]
    learner = DoubleDqn(learning_rate=RATE, updates=10, max_norm=MAX_NORM)
    together, loss = learner.update(
        learner.start(online), Batch(*(np.concatenate(one) for one in zip(*parts, strict=True)))
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
