"""Keeping critics near their start, layer by layer."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

ROUNDING = 1e-6
"""Ours: share of B within which a layer on the border, as the last projection left it, counts as inside."""


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
