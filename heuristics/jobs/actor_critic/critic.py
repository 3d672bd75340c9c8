"""The critics of all agents: temporal differences on a batch of steps, projection, running mean (Algorithm 2).

A critic is the network of `deep_network` on x; what x is makes it a Q critic (state and joint action; printed) or a V
critic (state alone; ours). Nothing else differs, so this file serves both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from heuristics.jobs.actor_critic.deep_network import Ends, value_of
from heuristics.jobs.actor_critic.projection import project

ValueFunction = Callable[[Ends, jax.Array, jax.Array], jax.Array]
"""What a critic with ends and layers says of an input, a scalar."""


class Transitions(NamedTuple):
    """Steps, in the order in which they were made, as critics see them; all agents see the same inputs.

    Parameters
    ----------
    x
        Inputs, norm 1, shape (steps, d).
    next_x
        Inputs of what follows: of s' for a V critic, of (s', a') for a Q critic; shape (steps, d).
    reward
        Local rewards r_i, shape (steps, N).
    discount
        gamma, or gamma to the power of the step's length; 0 where an episode ends for good; shape (steps,).
    """

    x: jax.Array
    next_x: jax.Array
    reward: jax.Array
    discount: jax.Array


class CriticPass(NamedTuple):
    """What the critics learn from one batch.

    Parameters
    ----------
    mean
        Running means of the weights, shape (N, D, m, m): what is gossiped and goes on.
    hits
        Share of the projections that had something to do, of all layers, agents and steps; a scalar.
    """

    mean: jax.Array
    hits: jax.Array


def td_errors(ends: Ends, layers: jax.Array, transitions: Transitions, value_of: ValueFunction = value_of) -> jax.Array:
    """Return r_i + discount f(next x; W_i) - f(x; W_i), minus the delta that is printed.

    Parameters
    ----------
    ends
        H and b of all critics.
    layers
        W_i, shape (N, D, m, m).
    transitions
        The steps.
    value_of
        f.

    Returns
    -------
    jax.Array
        Shape (steps, N).
    """
    now, after = (values(ends, layers, x, value_of) for x in (transitions.x, transitions.next_x))
    return transitions.reward + transitions.discount[:, None] * after - now


def values(ends: Ends, layers: jax.Array, x: jax.Array, value_of: ValueFunction = value_of) -> jax.Array:
    """Return what all critics say of many inputs of shape (steps, d): shape (steps, N)."""
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
    """Let every agent go through the steps once.

    For k = 0, 1, ...: W_i := project(W_i + beta error_i grad f(x_k; W_i)), mean_i := ((k+1) mean_i + W_i) / (k+2).

    Parameters
    ----------
    ends
        H and b, fixed and common.
    layers
        W_i at the start, shape (N, D, m, m). Printed: the common W(0) at every call. Ours: what the last call left.
    centre
        Middle of the projection, shape (D, m, m): the first W(0) (ours; the paper has no other).
    transitions
        K steps.
    beta, radius
        Step and B.
    value_of
        f.
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
