"""The critics of all agents: deep network, linear network, projection, and temporal differences (Algorithm 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

UNROLLED = 8
"""Number of layers that are compiled one by one."""


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
    inputs, width, depth, outputs
        d, m, D and the number of outputs, 1 for a critic.
    last_scale
        Factor of b. Printed: 1. Ours: 0.1 for actors, whose first policy is then nearly uniform.

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
    """Return the outputs of a network, shape (outputs,). The input has norm 1 (printed) and shape (d,)."""
    scale = layers.shape[-1] ** -0.5

    def through(hidden: jax.Array, layer: jax.Array) -> tuple[jax.Array, None]:
        """Pass one layer."""
        return scale * jax.nn.relu(layer @ hidden), None

    # a loop only beyond eight layers: it compiles faster but runs more slowly
    hidden, _ = jax.lax.scan(through, ends.first @ x, layers, unroll=min(len(layers), UNROLLED))
    return ends.last @ hidden


def value_of(ends: Ends, layers: jax.Array, x: jax.Array) -> jax.Array:
    """Return the one output of a critic, a scalar."""
    return outputs_of(ends, layers, x)[0]


def unit(x: jax.Array) -> jax.Array:
    """Scale to norm 1 along the last axis, as the paper assumes of inputs; zeros stay zeros."""
    return x / jnp.maximum(jnp.linalg.norm(x, axis=-1, keepdims=True), 1e-12)


def linear_critic(*, inputs: int, width: int, depth: int) -> DeepNetwork:
    """Return a linear critic with weights 0, in the form that `critic_pass` takes: one layer of one row.

    f(x; w) = (D m)^(1/2) w x. With this factor its gradient is on average as long as the initial gradient of a deep
    critic of width m and depth D, so that a step beta moves both values equally far. `width` and `depth` are m and D.
    """
    first: Any = np.zeros((0, inputs), dtype=np.float32)
    scale: Any = np.full((1, 1), (depth * width) ** 0.5, dtype=np.float32)
    layers: Any = np.zeros((1, 1, inputs), dtype=np.float32)
    return DeepNetwork(Ends(first, scale), layers)


def linear_value_of(ends: Ends, layers: jax.Array, x: jax.Array) -> jax.Array:
    """Return the value of a linear critic for an input of norm 1, a scalar."""
    return (ends.last @ (layers[0] @ x))[0]


ROUNDING = 1e-6
"""Ours: share of B within which a layer on the border, where the last projection put it, counts as inside."""


def project(layers: Array, centre: Array, radius: float | Array) -> tuple[Array, Array]:
    """Return the nearest layers whose distance to the centre is at most B, each in the Frobenius norm.

    W_h := W_h(0) + (W_h - W_h(0)) min(1, B / ||W_h - W_h(0)||).

    Parameters
    ----------
    layers
        W, shape (..., D, m, m).
    centre
        W(0), of a shape that broadcasts.
    radius
        B, above 0. Printed: the set; B of the experiments is not given (ours: 20 per layer).

    Returns
    -------
    tuple
        The layers, and which of them were outside, shape (..., D), bool.
    """
    difference = layers - centre
    norm = jnp.sqrt(jnp.sum(difference**2, axis=(-2, -1)))
    outside = norm > radius * (1.0 + ROUNDING)
    factor = jnp.where(outside, radius / jnp.maximum(norm, 1e-30), 1.0)
    # where nothing is outside, the layers stay what they are, to the last bit
    return jnp.where(outside[..., None, None], centre + difference * factor[..., None, None], layers), outside


# Algorithm 2. The input x makes a critic a Q critic (state and joint action; printed) or a V critic (state alone;
# ours).


ValueFunction = Callable[[Ends, jax.Array, jax.Array], jax.Array]
"""Value of a critic with ends and layers for an input, a scalar."""


class Transitions(NamedTuple):
    """Steps in order, as inputs of the critics; all agents have the same inputs.

    Parameters
    ----------
    x
        Inputs, norm 1, shape (steps, d).
    next_x
        Inputs for s' (V critic) or (s', a') (Q critic), shape (steps, d).
    reward
        Local rewards r_i, shape (steps, N).
    discount
        gamma, or gamma to the power of the step's length; 0 at the true end of an episode; shape (steps,).
    """

    x: jax.Array
    next_x: jax.Array
    reward: jax.Array
    discount: jax.Array


class CriticPass(NamedTuple):
    """Results of one batch of steps.

    Parameters
    ----------
    mean
        Running means of the weights, shape (N, D, m, m), which are gossiped.
    hits
        Share of the projections that changed weights, over all layers, agents and steps; a scalar.
    """

    mean: jax.Array
    hits: jax.Array


def td_errors(ends: Ends, layers: jax.Array, transitions: Transitions, value_of: ValueFunction = value_of) -> jax.Array:
    """Return r_i + discount f(next x; W_i) - f(x; W_i), shape (steps, N): minus the printed delta.

    Parameters
    ----------
    ends
        H and b of all critics.
    layers
        W_i, shape (N, D, m, m).
    """
    now, after = (values(ends, layers, x, value_of) for x in (transitions.x, transitions.next_x))
    return transitions.reward + transitions.discount[:, None] * after - now


def values(ends: Ends, layers: jax.Array, x: jax.Array, value_of: ValueFunction = value_of) -> jax.Array:
    """Return the values of all critics for inputs of shape (steps, d): shape (steps, N)."""
    return jax.vmap(jax.vmap(value_of, in_axes=(None, 0, None)), in_axes=(None, None, 0))(ends, layers, x)


def critic_pass(
    ends: Ends,
    layers: jax.Array,
    centre: jax.Array,
    transitions: Transitions,
    *,
    beta: float | jax.Array,
    radius: float | jax.Array,
    value_of: ValueFunction = value_of,
) -> CriticPass:
    """Let every critic learn from the steps once, in order.

    For k = 0, 1, ...: W_i := project(W_i + beta error_i grad f(x_k; W_i)), mean_i := ((k+1) mean_i + W_i) / (k+2).

    Parameters
    ----------
    ends
        H and b, fixed and common.
    layers
        W_i at the start, shape (N, D, m, m). Printed: the common W(0) at every call. Ours: those after the last call.
    centre
        Middle of the projection, shape (D, m, m): the first W(0) (ours; the paper has no other).
    transitions
        K steps.
    beta, radius
        Step and B.
    """

    def step(carry: tuple[jax.Array, jax.Array], item: tuple[jax.Array, Transitions]) -> tuple[tuple, jax.Array]:
        """Learn from one step."""
        now, mean = carry
        k, one = item
        ahead = jax.vmap(value_of, in_axes=(None, 0, None))(ends, now, one.next_x)
        value, gradient = jax.vmap(jax.value_and_grad(value_of, argnums=1), in_axes=(None, 0, None))(ends, now, one.x)
        error = one.reward + one.discount * ahead - value
        now, outside = project(now + beta * error[:, None, None, None] * gradient, centre, radius)
        return (now, ((k + 1.0) * mean + now) / (k + 2.0)), outside.mean()

    count = jnp.arange(len(transitions.x), dtype=jnp.float32)
    (_, mean), outside = jax.lax.scan(step, (layers, layers), (count, transitions))
    return CriticPass(mean, outside.mean())


def weight_gap(layers: jax.Array) -> jax.Array:
    """Return the largest ||W_i - mean of W|| over the agents, a scalar."""
    away = layers - layers.mean(axis=0)
    return jnp.sqrt(jnp.max(jnp.sum(away**2, axis=(1, 2, 3))))
