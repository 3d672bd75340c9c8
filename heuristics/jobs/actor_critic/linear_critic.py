"""A critic that is linear in what it sees, as a rival of the deep one; ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.jobs.actor_critic.deep_network import DeepNetwork, Ends

if TYPE_CHECKING:
    import jax


def linear_critic(*, inputs: int, width: int, depth: int) -> DeepNetwork:
    """Return a linear critic with weights 0, in the form that `critic_pass` takes: one layer of one row.

    f(x; w) = (D m)^(1/2) w x. With this factor its gradient is as long as that of a deep critic of width m and depth D
    is at first, on average, so that one step beta moves both values equally far.

    Parameters
    ----------
    inputs
        d.
    width, depth
        m and D of the deep critic that it is compared with.
    """
    first: Any = np.zeros((0, inputs), dtype=np.float32)
    scale: Any = np.full((1, 1), (depth * width) ** 0.5, dtype=np.float32)
    layers: Any = np.zeros((1, 1, inputs), dtype=np.float32)
    return DeepNetwork(Ends(first, scale), layers)


def linear_value_of(ends: Ends, layers: jax.Array, x: jax.Array) -> jax.Array:
    """Return what a linear critic says of an input of norm 1, a scalar."""
    return (ends.last @ (layers[0] @ x))[0]
