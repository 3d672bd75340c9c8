"""The actors: policies of one agent each, and the directions in which signals push them (Algorithm 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import optax

from heuristics.jobs.actor_critic.critic import DeepNetwork, outputs_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from heuristics.jobs.actor_critic.settings import ActorCriticSettings


def deep_log_probabilities(actor: DeepNetwork, x: jax.Array) -> jax.Array:
    """Return the logarithms of pi_i(. | s; theta_i), shape (actions,): the deep network on s, then softmax.

    Parameters
    ----------
    actor
        theta_i; all of it is trained. Printed: m (D m + d + 1) numbers, hence one output; ours: one row of b for each
        action.
    x
        s, norm 1, shape (d,).
    """
    return jax.nn.log_softmax(outputs_of(actor.ends, actor.layers, x))


def directions(log_probability: Callable[[Any, Any], jax.Array], weights: Any, steps: Any, signals: jax.Array) -> Any:
    """Return d_i = (1/M) sum over steps of signal_i grad log pi_i for every agent.

    Parameters
    ----------
    log_probability
        Log probability of the actions of one agent in one step, from its weights and its part of the step; the sum over
        its decisions if there are several, 0 without decisions. Any actor with any inputs can be used.
    weights
        theta of all agents, a nest of arrays whose first axis is the agent; the result has the same form.
    steps
        Nest of arrays with axes (M, N, ...), the inputs of `log_probability`.
    signals
        After gossip, shape (M, N).
    """

    def weighted(one: Any, mine: Any, signal: jax.Array) -> jax.Array:
        """Return the mean whose gradient is the direction of one agent."""
        logs = jax.vmap(log_probability, in_axes=(None, 0))(one, mine)
        return (jax.lax.stop_gradient(signal) * logs).mean()

    found: Any = jax.vmap(jax.grad(weighted), in_axes=(0, 1, 1))(weights, steps, signals)
    return found


LEAST_NORM = 1e-8
"""Shorter directions are not scaled to length 1 (ours; the paper divides by 0 there)."""


def actor_update(settings: ActorCriticSettings, alpha: float | jax.Array) -> optax.GradientTransformation:
    """Return the rule that turns the direction of ascent of one agent into a change of its weights.

    Parameters
    ----------
    settings
        `update`, `alpha_schedule` and `max_norm`.
    alpha
        First step size; traced, so that other sizes need no other program.
    """
    rate: Any = alpha if settings.alpha_schedule == "constant" else lambda count: alpha / (count + 1.0)
    if settings.update == "adam":
        rule = optax.chain(optax.clip_by_global_norm(settings.max_norm), optax.scale_by_adam())
    elif settings.update == "normalised":
        rule = optax.stateless(_to_length_one)
    else:
        rule = optax.identity()
    return optax.chain(rule, optax.scale_by_learning_rate(rate, flip_sign=False))


def length_of(direction: Any) -> jax.Array:
    """Return the norm over all weights, a scalar."""
    return jnp.sqrt(sum(jnp.sum(array**2) for array in jax.tree.leaves(direction)))


def _to_length_one(direction: Any, weights: Any) -> Any:
    """Divide by the norm over all weights."""
    del weights
    norm = jnp.maximum(length_of(direction), LEAST_NORM)
    return jax.tree.map(lambda array: array / norm, direction)
