"""The deep network of critics and actors: x_0 = H x, x_h = m^(-1/2) ReLU(W_h x_(h-1)), output b x_D.

Printed (Zhang et al. 2025): entries of H and W are drawn from N(0, 2), those of b from N(0, 1); a critic trains only
W = (W_1..W_D), an actor everything. The second number is read as the variance (ours), with which a layer keeps norms on
average. Consequence: H is not scaled by m, so outputs grow with m^(1/2) and a first policy is almost deterministic.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

UNROLLED = 8
"""Layers that are compiled one by one."""


class Ends(NamedTuple):
    """First and last layer.

    Parameters
    ----------
    first
        H, shape (m, d).
    last
        b, shape (outputs, m).
    """

    first: jax.Array
    last: jax.Array


class DeepNetwork(NamedTuple):
    """All weights of a network.

    Parameters
    ----------
    ends
        H and b; fixed and common to all agents where it is a critic.
    layers
        W_1..W_D, shape (D, m, m).
    """

    ends: Ends
    layers: jax.Array


def random_network(
    rng: np.random.Generator, *, inputs: int, width: int, depth: int, outputs: int = 1, last_scale: float = 1.0
) -> DeepNetwork:
    """Draw a network as printed.

    Parameters
    ----------
    rng
        Source of the numbers.
    inputs, width, depth, outputs
        d, m, D and the number of outputs, 1 for a critic.
    last_scale
        b is multiplied by it. Printed: 1. Ours: 0.1 for actors, whose first policy is then nearly uniform.

    Returns
    -------
    DeepNetwork
        Of float32, NumPy arrays.
    """

    def normal(*shape: int) -> Any:
        """Draw from N(0, 1)."""
        return rng.standard_normal(shape, dtype=np.float32)

    root = np.float32(2**0.5)
    first, layers, last = root * normal(width, inputs), root * normal(depth, width, width), normal(outputs, width)
    return DeepNetwork(Ends(first, np.float32(last_scale) * last), layers)


def outputs_of(ends: Ends, layers: jax.Array, x: jax.Array) -> jax.Array:
    """Return the outputs of a network.

    Parameters
    ----------
    ends, layers
        Its weights.
    x
        Input of norm 1 (printed), shape (d,).

    Returns
    -------
    jax.Array
        Shape (outputs,).
    """
    scale = layers.shape[-1] ** -0.5

    def through(hidden: jax.Array, layer: jax.Array) -> tuple[jax.Array, None]:
        """Pass one layer."""
        return scale * jax.nn.relu(layer @ hidden), None

    # a loop only beyond eight layers: faster to run without, to compile with
    hidden, _ = jax.lax.scan(through, ends.first @ x, layers, unroll=min(len(layers), UNROLLED))
    return ends.last @ hidden


def value_of(ends: Ends, layers: jax.Array, x: jax.Array) -> jax.Array:
    """Return the one output of a critic, a scalar."""
    return outputs_of(ends, layers, x)[0]


def unit(x: jax.Array) -> jax.Array:
    """Scale to norm 1 along the last axis, as the paper wants inputs; zeros stay zeros."""
    return x / jnp.maximum(jnp.linalg.norm(x, axis=-1, keepdims=True), 1e-12)
