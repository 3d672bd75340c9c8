"""Loss and steps of actor and critic in JAX and Optax; nothing but training imports this."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from heuristics.jobs.actor_critic.compiler_options import COMPILER_OPTIONS
from heuristics.jobs.marl.network import embed, scores, value
from heuristics.jobs.marl.observation import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from heuristics.jobs.marl.parameters import Parameters, Variant


class Batch(NamedTuple):
    """Decisions to learn from; every array has the decisions as first axis."""

    seen: Observation
    slot: NDArray[np.int32]
    advantage: NDArray[np.float32]
    target: NDArray[np.float32]
    """Of the critic."""
    weight: NDArray[np.float32]
    """Of the decision in the loss; the learner sets it, 0 for padding."""


class Losses(NamedTuple):
    """The parts of a loss, weighted sums over decisions."""

    policy: Any
    """- advantage ln pi(slot)."""
    value: Any
    """(V - target)^2."""
    entropy: Any
    """- sum of pi ln pi over the slots that may be chosen."""


def decision_losses(parameters: Parameters, batch: Batch, variant: Variant) -> Losses:
    """Return the parts of the loss of a batch."""

    def one(seen: Observation, slot: Any) -> tuple[Any, Any, Any]:
        """Return ln pi of a slot, the value and the entropy."""
        embedding = embed(jnp, parameters, seen, variant)
        logarithms = jax.nn.log_softmax(scores(jnp, parameters, seen, embedding))
        safe = jnp.where(seen.mask, logarithms, 0.0)  # a masked slot has no part in the entropy, nor in its gradient
        entropy = -(jnp.where(seen.mask, jnp.exp(safe), 0.0) * safe).sum()
        return logarithms[slot], value(jnp, parameters, seen, embedding), entropy

    logarithm, predicted, entropy = jax.vmap(one)(batch.seen, batch.slot)
    return Losses(
        policy=-(batch.weight * batch.advantage * logarithm).sum(),
        value=(batch.weight * (predicted - batch.target) ** 2).sum(),
        entropy=(batch.weight * entropy).sum(),
    )


def loss(
    parameters: Parameters, batch: Batch, entropy_weight: Any, *, variant: Variant, value_weight: float
) -> tuple[Any, Losses]:
    """Return policy + value_weight value - entropy_weight entropy, and the parts."""
    parts = decision_losses(parameters, batch, variant)
    return parts.policy + value_weight * parts.value - entropy_weight * parts.entropy, parts


class Learner:
    """Values and gradients of many decisions, a fixed number at a time: one shape each, compiled once.

    Parameters
    ----------
    variant
        Of the parameters.
    value_weight
        See `loss`.
    chunk
        Decisions at a time.
    """

    def __init__(self, variant: Variant, *, value_weight: float, chunk: int) -> None:
        self._chunk = chunk
        self._gradient, self._values = _compiled(variant, value_weight)

    def values(self, parameters: Parameters, seen: Observation) -> NDArray[np.float64]:
        """Return what the critic makes of observations, shape (decisions,), in units of the targets."""
        found = []
        for rows, count in self._chunks(np.arange(len(seen.mask))):
            worth = self._values(parameters, Observation._make(array[rows] for array in seen))
            found.append(np.asarray(worth, dtype=np.float64)[:count])
        return np.concatenate(found)

    def gradient(
        self, parameters: Parameters, batch: Batch, entropy_weight: float, rows: NDArray[np.int64] | None = None
    ) -> tuple[Parameters, Losses]:
        """Return the gradient of the mean loss of a batch, or of some rows of it, and the parts of that loss.

        Sums are made chunk after chunk in order.
        """
        chosen = np.arange(len(batch.slot)) if rows is None else rows
        total: Any = None
        for part, count in self._chunks(chosen):
            weight = np.zeros(self._chunk, dtype=np.float32)
            weight[:count] = 1 / len(chosen)
            seen = Observation._make(array[part] for array in batch.seen)
            piece = Batch(seen, batch.slot[part], batch.advantage[part], batch.target[part], weight)
            found = self._gradient(parameters, piece, np.float32(entropy_weight))
            total = found if total is None else jax.tree.map(jnp.add, total, found)
        gradient, parts = total
        return gradient, Losses(*(float(part) for part in parts))

    def _chunks(self, rows: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], int]]:
        """Cut rows into chunks, each with the number that counts; the last one repeats its last row."""
        for begin in range(0, len(rows), self._chunk):
            part = rows[begin : begin + self._chunk]
            yield np.pad(part, (0, self._chunk - len(part)), mode="edge"), len(part)


@cache
def _compiled(variant: Variant, value_weight: float) -> tuple[Any, Any]:
    """Return the gradient of the loss, and the values, compiled once per process and shape."""
    whole = partial(loss, variant=variant, value_weight=value_weight)

    def values(parameters: Parameters, seen: Observation) -> Any:
        """Return the value of every observation."""
        return jax.vmap(lambda each: value(jnp, parameters, each, embed(jnp, parameters, each, variant)))(seen)

    return (
        jax.jit(jax.grad(whole, has_aux=True), compiler_options=COMPILER_OPTIONS),
        jax.jit(values, compiler_options=COMPILER_OPTIONS),
    )


@cache
def _optimiser(learning_rate: float, max_norm: float | None) -> tuple[Any, Any]:
    """Return the beginning and the compiled step of an optimiser."""
    limits = [] if max_norm is None else [optax.clip_by_global_norm(max_norm)]
    optimiser = optax.chain(*limits, optax.adam(learning_rate))

    def step(parameters: Parameters, state: Any, gradient: Parameters) -> tuple[Any, Any]:
        """Make a step."""
        changes, state = optimiser.update(gradient, state, parameters)
        return optax.apply_updates(parameters, changes), state

    return optimiser.init, jax.jit(step, compiler_options=COMPILER_OPTIONS)


class Descent:
    """Adam, and optionally a largest norm of the gradient.

    Parameters
    ----------
    parameters
        To begin with.
    learning_rate
        Of Adam.
    max_norm
        Larger gradients are shortened to it; None for no limit.
    """

    def __init__(self, parameters: Parameters, *, learning_rate: float, max_norm: float | None = None) -> None:
        begin, self._step = _optimiser(learning_rate, max_norm)
        self.parameters, self._state = parameters, begin(parameters)

    def step(self, gradient: Parameters) -> None:
        """Go down a gradient."""
        self.parameters, self._state = self._step(self.parameters, self._state, gradient)


def to_numpy(parameters: Parameters) -> Parameters:
    """Return parameters as arrays of NumPy."""
    return {name: np.array(array, dtype=np.float32) for name, array in parameters.items()}
