"""The Double-DQN update in JAX and Optax; nothing but training imports this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from heuristics.dag.worl_rtgs.network import DOES_NOT_FIT, Weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from heuristics.dag.worl_rtgs.replay import Batch

_ONE_THREAD = {"xla_cpu_multi_thread_eigen": False}  # the same sums in the same order, and one core per training


class LearnerState(NamedTuple):
    """What an update changes."""

    online: Weights
    target: Weights
    optimiser: Any


class DoubleDqn:
    """Double-DQN with a target network, Huber loss (delta 1), Adam, a cosine to 0 and a clipped gradient norm.

    Parameters
    ----------
    learning_rate
        Of Adam at the beginning.
    updates
        Number of updates after which the learning rate is 0.
    max_norm
        Largest norm of the gradient over all weights.

    References
    ----------
    van Hasselt, Guez and Silver (2016), Deep Reinforcement Learning with Double Q-learning, AAAI: the target. Kingma
    and Ba (2015): Adam. Mnih et al. (2015): replay and target network. That this is what a hybrid of whales and "DDQN"
    learns with is our interpretation; sizes and rates are ours.
    """

    def __init__(self, *, learning_rate: float, updates: int, max_norm: float) -> None:
        self._optimiser = optax.chain(
            optax.clip_by_global_norm(max_norm),
            optax.adam(optax.cosine_decay_schedule(learning_rate, max(1, updates))),
        )
        self._run = jax.jit(self._scan, compiler_options=_ONE_THREAD)

    def start(self, weights: Weights) -> LearnerState:
        """Return the state before the first update."""
        online: Any = Weights(*(jnp.asarray(array) for array in weights))  # type: ignore[arg-type]  # JAX arrays
        return LearnerState(online, online, self._optimiser.init(online))

    def update(self, state: LearnerState, batch: Batch) -> tuple[LearnerState, float]:
        """Make one update per batch.

        Parameters
        ----------
        state
            Before.
        batch
            Transitions; every number of updates is compiled once.

        Returns
        -------
        tuple
            The state after, and the mean loss.
        """
        state, losses = self._run(state, batch)
        return state, float(jnp.mean(losses))

    @staticmethod
    def copy_to_target(state: LearnerState) -> LearnerState:
        """Return the state with the online weights as target (a hard copy)."""
        return state._replace(target=state.online)

    @staticmethod
    def weights(state: LearnerState) -> Weights:
        """Return the online weights as NumPy arrays."""
        return Weights(*(np.array(array, dtype=np.float32) for array in state.online))

    def _scan(self, state: LearnerState, batch: Batch) -> tuple[LearnerState, jax.Array]:
        """Make the updates one after the other."""
        return jax.lax.scan(self._step, state, batch)

    def _step(self, state: LearnerState, batch: Batch) -> tuple[LearnerState, jax.Array]:
        """Make one update."""
        y = targets(state.online, state.target, batch)
        loss, gradient = jax.value_and_grad(huber_loss)(state.online, batch, y)
        changes, optimiser = self._optimiser.update(gradient, state.optimiser, state.online)
        return LearnerState(optax.apply_updates(state.online, changes), state.target, optimiser), loss


def q_values(weights: Weights, rows: ArrayLike, fits: ArrayLike) -> jax.Array:
    """Return Q of every GPU: the network of `heuristics.dag.worl_rtgs.network` on many states.

    Parameters
    ----------
    weights
        Of the network.
    rows
        Features, shape (..., m, features); anything where the GPU does not fit.
    fits
        GPUs that fit, shape (..., m).

    Returns
    -------
    jax.Array
        Shape (..., m), float32; `DOES_NOT_FIT` where the GPU does not fit.
    """
    rows, fits = jnp.asarray(rows), jnp.asarray(fits)
    own, mask = rows.shape[-1], fits[..., jnp.newaxis]
    count = jnp.maximum(mask.sum(axis=-2), 1)
    mean = jnp.where(mask, rows, 0.0).sum(axis=-2) / count
    largest = jnp.where(mask, rows, -jnp.inf).max(axis=-2)
    largest = jnp.where(mask.any(axis=-2), largest, 0.0)
    # the context is the same for all GPUs of a state: its part of the first layer is computed once
    context = jnp.concatenate([mean, largest], axis=-1) @ weights.w1[own:] + weights.b1
    hidden = jax.nn.relu(rows @ weights.w1[:own] + context[..., jnp.newaxis, :])
    hidden = jax.nn.relu(hidden @ weights.w2 + weights.b2)
    q = (hidden @ weights.w3 + weights.b3)[..., 0]
    return jnp.where(fits, q, DOES_NOT_FIT)


def double_dqn_target(reward: ArrayLike, discount: ArrayLike, online: ArrayLike, target: ArrayLike) -> jax.Array:
    """Return y = reward + discount Q_target(s', argmax of Q_online(s', .)).

    Parameters
    ----------
    reward, discount
        Shape (...); the discount is 0 at the end.
    online, target
        Q of both networks in s', shape (..., m); `DOES_NOT_FIT` in `online` where the GPU does not fit.
    """
    chosen = jnp.argmax(jnp.asarray(online), axis=-1)
    value = jnp.take_along_axis(jnp.asarray(target), chosen[..., jnp.newaxis], axis=-1)[..., 0]
    return jnp.asarray(reward) + jnp.asarray(discount) * value


def targets(online: Weights, target: Weights, batch: Batch) -> jax.Array:
    """Return the target of every transition of one batch, shape (batch,)."""
    online_q = q_values(online, batch.next_rows, batch.next_fits)
    target_q = q_values(target, batch.next_rows, batch.next_fits)
    return double_dqn_target(batch.reward, batch.discount, online_q, target_q)


def huber_loss(weights: Weights, batch: Batch, y: jax.Array) -> jax.Array:
    """Return the mean Huber loss (delta 1) of the chosen GPUs against the targets of one batch."""
    q = q_values(weights, batch.rows, batch.fits)
    chosen = jnp.take_along_axis(q, jnp.asarray(batch.action)[..., jnp.newaxis], axis=-1)[..., 0]
    loss: jax.Array = optax.huber_loss(chosen, y).mean()
    return loss
