"""How actors follow their directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import optax

if TYPE_CHECKING:
    from heuristics.jobs.actor_critic.settings import ActorCriticSettings

LEAST_NORM = 1e-8
"""Shorter directions are not stretched to length 1 (ours; the paper divides by 0 there)."""


def actor_update(settings: ActorCriticSettings, alpha: float | jax.Array) -> optax.GradientTransformation:
    """Return the rule that turns the direction of ascent of one agent into a change of its weights.

    Parameters
    ----------
    settings
        `update`, `alpha_schedule` and `max_norm`.
    alpha
        The first step; traced, so that other steps need no other program.
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
