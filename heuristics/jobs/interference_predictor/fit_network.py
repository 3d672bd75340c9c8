"""Training of the network in JAX and Optax; nothing but training imports this."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from heuristics.jax_options import COMPILER_OPTIONS
from heuristics.jobs.interference_predictor.models import (
    NeuralNetworkModel,
    initial_layers,
    mean_and_scale,
    standardised,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

LEARNING_RATE = 1e-3
"""Learning rate of Adam."""

EPOCHS = 200
"""Passes over all rows."""

BATCH = 256
"""Rows of an update, or all rows if there are fewer (ours)."""


class FittedNetwork(NamedTuple):
    """A network and its training losses."""

    model: NeuralNetworkModel
    losses: NDArray[np.float32]  # mean Huber loss of every epoch


def fit_network(
    features: NDArray[np.float64],
    y: ArrayLike,
    rng: np.random.Generator,
    *,
    epochs: int = EPOCHS,
    batch: int = BATCH,
    learning_rate: float = LEARNING_RATE,
) -> FittedNetwork:
    """Minimise the mean Huber loss (delta 1) by Adam; one thread, the same arguments give the same bytes.

    Parameters
    ----------
    features
        Shape (rows, features), at least one row.
    y
        Shape (rows,).
    rng
        Source of the first weights and of the order of rows.
    epochs
        Passes over all rows, at least 1; rows that fill no whole batch are skipped for one pass.
    """
    rows, num_features = features.shape
    mean, scale = mean_and_scale(features)
    x = standardised(features, mean, scale).astype(np.float32)
    layers = initial_layers(num_features, rng)
    size = min(batch, rows)
    steps = rows // size
    padded = 1 << (rows - 1).bit_length()  # a power of two: samples of about one size share a program
    order = np.zeros((epochs, padded // size, size), dtype=np.int32)
    for epoch in order:
        epoch[:steps] = rng.permutation(rows)[: steps * size].reshape(steps, size)
    padding = padded - rows
    trained, losses = _trainer(learning_rate)(
        layers, np.pad(x, ((0, padding), (0, 0))), np.pad(np.asarray(y, dtype=np.float32), (0, padding)), order, steps
    )
    arrays = {name: np.array(array, dtype=np.float32) for name, array in trained.items()}
    return FittedNetwork(NeuralNetworkModel(mean=mean, scale=scale, **arrays), np.array(losses))


def network_output(layers: dict[str, Any], x: ArrayLike) -> jax.Array:
    """Return y of standardised features: the forward pass of `NeuralNetworkModel`."""
    hidden = jax.nn.relu(jnp.asarray(x) @ layers["w1"] + layers["b1"])
    hidden = jax.nn.relu(hidden @ layers["w2"] + layers["b2"])
    return jax.nn.softplus((hidden @ layers["w3"] + layers["b3"])[..., 0])


def mean_loss(layers: dict[str, Any], x: ArrayLike, y: ArrayLike) -> jax.Array:
    """Return the mean Huber loss."""
    loss: jax.Array = optax.huber_loss(network_output(layers, x), jnp.asarray(y)).mean()
    return loss


@cache
def _trainer(learning_rate: float) -> Callable[..., tuple[dict[str, Any], jax.Array]]:
    """Return the compiled training, one program per shape; only the first `steps` batches of an epoch count."""
    optimiser = optax.adam(learning_rate)

    def train(layers: dict[str, Any], x: Any, y: Any, order: Any, steps: Any) -> tuple[dict[str, Any], jax.Array]:
        def epoch(state: tuple[Any, Any], batches: Any) -> tuple[tuple[Any, Any], jax.Array]:
            def step(number: Any, so_far: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
                weights, moments, total = so_far
                chosen = batches[number]
                loss, gradient = jax.value_and_grad(mean_loss)(weights, x[chosen], y[chosen])
                changes, moments = optimiser.update(gradient, moments)
                return optax.apply_updates(weights, changes), moments, total + loss

            weights, moments, total = jax.lax.fori_loop(0, steps, step, (*state, jnp.float32(0.0)))
            return (weights, moments), total / steps

        (weights, _), losses = jax.lax.scan(epoch, (layers, optimiser.init(layers)), order)
        return weights, losses

    return jax.jit(train, compiler_options=COMPILER_OPTIONS)
