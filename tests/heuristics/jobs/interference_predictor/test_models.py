"""Tests of the models of y."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from sklearn.linear_model import Ridge

from heuristics.jobs.interference_predictor.fit_network import FittedNetwork, fit_network, mean_loss, network_output
from heuristics.jobs.interference_predictor.models import (
    LAYERS,
    PENALTY,
    fit_constant,
    fit_ridge,
    initial_layers,
    mean_and_scale,
    standardised,
)

RNG = np.random.default_rng(8)
FEATURES = np.column_stack([RNG.normal(3.0, 2.0, 200), RNG.integers(0, 2, 200), np.full(200, 0.7), RNG.random(200)])
Y = 0.3 + 0.2 * FEATURES[:, 0] ** 2 / 10 + 0.4 * FEATURES[:, 1] * FEATURES[:, 3]


def test_standardised() -> None:
    """Tests mean 0 and deviation 1, and that a feature that is constant in training has no say later."""
    mean, scale = mean_and_scale(FEATURES)
    x = standardised(FEATURES, mean, scale)
    assert x.mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-12)
    assert x.std(axis=0) == pytest.approx([1, 1, 0, 1])
    other = FEATURES + np.array([0, 0, 5, 0])
    assert standardised(other, mean, scale).tolist() == x.tolist()


def test_constant_is_the_median() -> None:
    """Tests that no other constant has a smaller mean absolute error."""
    model = fit_constant(Y)
    error = np.abs(model.predict(FEATURES) - Y).mean()
    assert error <= min(np.abs(value - Y).mean() for value in np.linspace(Y.min(), Y.max(), 101))
    assert model.predict(FEATURES[:3]).tolist() == [np.median(Y)] * 3


def test_ridge_solves_the_normal_equations() -> None:
    """Tests (X'X + penalty I) w = X'(y - mean y) on standardised features, and against scikit-learn."""
    model = fit_ridge(FEATURES, Y)
    x = standardised(FEATURES, model.mean, model.scale)
    assert (x.T @ x + PENALTY * np.eye(4)) @ model.weights == pytest.approx(x.T @ (Y - Y.mean()), abs=1e-9)
    assert float(model.intercept) == pytest.approx(Y.mean())
    assert model.weights[2] == 0.0
    theirs = Ridge(alpha=PENALTY).fit(x, Y)
    assert model.weights == pytest.approx(theirs.coef_, abs=1e-9)
    assert model.predict(FEATURES) == pytest.approx(np.maximum(0.0, theirs.predict(x)))
    heavy = fit_ridge(FEATURES, Y, penalty=1e9)
    assert np.abs(heavy.weights).max() < 1e-5


def test_ridge_is_never_negative() -> None:
    """Tests that a negative sum becomes 0, for y is never negative."""
    model = fit_ridge(np.array([[0.0], [1.0], [2.0]]), [0.0, 1.0, 2.0])
    assert model.predict(np.array([[-5.0], [1.0]])) == pytest.approx([0.0, 1.0])


def plain_loss(layers: dict[str, np.ndarray], x: np.ndarray, y: np.ndarray) -> float:
    """Return the mean Huber loss (delta 1) of the network in double precision."""
    hidden = np.maximum(0, x @ layers["w1"] + layers["b1"])
    hidden = np.maximum(0, hidden @ layers["w2"] + layers["b2"])
    wrong = np.abs(np.log1p(np.exp((hidden @ layers["w3"] + layers["b3"])[:, 0])) - y)
    return float(np.where(wrong <= 1, wrong**2 / 2, wrong - 0.5).mean())


@pytest.mark.whole
def test_gradient_against_finite_differences() -> None:
    """Tests loss and gradient in every layer on both branches of Huber's loss, against plain double precision."""
    rng = np.random.default_rng(2)
    layers = {name: array.astype(np.float64) for name, array in initial_layers(3, rng).items()}
    layers = {name: array + 0.01 * rng.standard_normal(array.shape) for name, array in layers.items()}
    x, y = rng.standard_normal((7, 3)), np.array([0.0, 0.1, 0.2, 0.5, 1.0, 4.0, 6.0])
    small = {name: array.astype(np.float32) for name, array in layers.items()}
    loss, gradient = jax.jit(jax.value_and_grad(mean_loss))(small, x.astype(np.float32), y.astype(np.float32))
    assert float(loss) == pytest.approx(plain_loss(layers, x, y), rel=1e-5)
    for name in LAYERS:
        direction = rng.standard_normal(layers[name].shape)
        up, down = (plain_loss({**layers, name: layers[name] + h * direction}, x, y) for h in (1e-6, -1e-6))
        assert float((np.array(gradient[name]) * direction).sum()) == pytest.approx((up - down) / 2e-6, rel=1e-3)


def fitted(seed: int) -> FittedNetwork:
    """Return a network; all tests share a compiled program."""
    return fit_network(FEATURES, Y, np.random.default_rng(seed), epochs=150, batch=64)


@pytest.fixture(scope="module")
def network() -> FittedNetwork:
    """Return the network of seed 4."""
    return fitted(4)


@pytest.mark.whole
def test_numpy_and_jax_agree(network: FittedNetwork) -> None:
    """Tests that use and training have one forward pass, that y is never negative, and its value by hand."""
    model = network.model
    x = standardised(FEATURES, model.mean, model.scale)
    theirs = np.array(jax.jit(network_output)({name: getattr(model, name) for name in LAYERS}, x.astype(np.float32)))
    assert model.predict(FEATURES) == pytest.approx(theirs, abs=1e-5)
    assert model.predict(1e3 * FEATURES).min() >= 0
    hidden = [max(0.0, float(x[0] @ model.w1[:, unit] + model.b1[unit])) for unit in range(64)]
    second = [max(0.0, float(np.dot(hidden, model.w2[:, unit]) + model.b2[unit])) for unit in range(64)]
    by_hand = np.log1p(np.exp(np.dot(second, model.w3[:, 0]) + model.b3[0]))
    assert model.predict(FEATURES[:1])[0] == pytest.approx(by_hand)


@pytest.mark.whole
def test_training_improves_and_repeats(network: FittedNetwork) -> None:
    """Tests that the loss falls to a small part, below the ridge's, and that a seed decides about every byte."""
    again, other = fitted(4), fitted(5)
    assert network.losses.shape == (150,)
    assert network.losses[-1] < 0.05 * network.losses[0]
    error = np.abs(network.model.predict(FEATURES) - Y).mean()
    assert error < 0.7 * np.abs(fit_ridge(FEATURES, Y).predict(FEATURES) - Y).mean()
    assert all(getattr(network.model, name).tobytes() == getattr(again.model, name).tobytes() for name in LAYERS)
    assert network.model.w1.tobytes() != other.model.w1.tobytes()


@pytest.mark.whole
def test_every_row_is_trained_on() -> None:
    """Tests on y = 1 for all rows that what pads them to a power of two is not trained on."""
    far = 5.0 + np.random.default_rng(3).random((200, 4))
    model, losses = fit_network(far, np.ones(200), np.random.default_rng(0), epochs=150, batch=64)
    assert losses[-1] < 1e-3
    assert model.predict(far) == pytest.approx(np.ones(200), abs=0.15)


@pytest.mark.whole
def test_monotone_toy() -> None:
    """Tests on y that grows with the load of others, exact data: ridge and network beat the constant on new rows."""
    rng = np.random.default_rng(1)
    load = np.pad(rng.random((300, 1)), ((0, 0), (0, 3)))
    y = np.log1p(2.0 * load[:, 0])
    train, test = slice(0, 200), slice(200, 300)
    constant = np.abs(fit_constant(y[train]).predict(load[test]) - y[test]).mean()
    for model in (
        fit_ridge(load[train], y[train]),
        fit_network(load[train], y[train], rng, epochs=150, batch=64).model,
    ):
        predicted = model.predict(load[test])
        assert np.abs(predicted - y[test]).mean() < 0.2 * constant
        assert (np.diff(predicted[np.argsort(load[test, 0])]) > -1e-3).all()
