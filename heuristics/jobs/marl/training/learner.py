"""Loss and steps of actor and critic in JAX and Optax; nothing but training imports this."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from heuristics.jax_options import COMPILER_OPTIONS
from heuristics.jobs.marl.network import embed, scores, value
from heuristics.jobs.marl.observation import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from heuristics.jobs.marl.network import Parameters, Variant


class DecisionBatch(NamedTuple):
    """Decisions to learn from; every array has the decisions as first axis."""

    seen: Observation
    slot: NDArray[np.int32]
    advantage: NDArray[np.float32]
    target: NDArray[np.float32]
    """Targets of the critic."""
    weight: NDArray[np.float32]
    """Weights of the decisions in the loss; the learner sets them, 0 for padding."""
    logarithm: NDArray[np.float32]
    """ln pi(slot) when it was chosen; used only if the ratio to it is clipped."""


class Losses(NamedTuple):
    """The parts of a loss, weighted sums over decisions."""

    policy: Any
    """- advantage ln pi(slot), or the clipped form, see `decision_losses`."""
    value: Any
    """(V - target)^2."""
    entropy: Any
    """- sum of pi ln pi over the slots that may be chosen."""


def decision_losses(parameters: Parameters, batch: DecisionBatch, variant: Variant, clip: float | None) -> Losses:
    """Return the parts of the loss of a batch.

    With `clip`, the part of the policy is - min(ratio A, clipped ratio A), where the ratio is pi(slot) over what it was
    when the slot was chosen, clipped to 1 +- `clip`: equation 7 of Schulman, Wolski, Dhariwal, Radford and Klimov
    (2017), Proximal policy optimization algorithms. Its gradient at ratio 1 is that without clipping.
    """

    def one(seen: Observation, slot: Any) -> tuple[Any, Any, Any]:
        """Return ln pi of a slot, the value and the entropy."""
        embedding = embed(jnp, parameters, seen, variant)
        logarithms = jax.nn.log_softmax(scores(jnp, parameters, seen, embedding))
        safe = jnp.where(seen.mask, logarithms, 0.0)  # masked slots do not count in the entropy and its gradient
        entropy = -(jnp.where(seen.mask, jnp.exp(safe), 0.0) * safe).sum()
        return logarithms[slot], value(jnp, parameters, seen, embedding), entropy

    logarithm, predicted, entropy = jax.vmap(one)(batch.seen, batch.slot)
    if clip is None:
        gained = batch.advantage * logarithm
    else:
        ratio = jnp.exp(logarithm - batch.logarithm)
        gained = jnp.minimum(ratio * batch.advantage, jnp.clip(ratio, 1 - clip, 1 + clip) * batch.advantage)
    return Losses(
        policy=-(batch.weight * gained).sum(),
        value=(batch.weight * (predicted - batch.target) ** 2).sum(),
        entropy=(batch.weight * entropy).sum(),
    )


def loss(
    parameters: Parameters,
    batch: DecisionBatch,
    entropy_weight: Any,
    *,
    variant: Variant,
    value_weight: float,
    clip: float | None = None,
) -> tuple[Any, Losses]:
    """Return policy + value_weight value - entropy_weight entropy, and the parts."""
    parts = decision_losses(parameters, batch, variant, clip)
    return parts.policy + value_weight * parts.value - entropy_weight * parts.entropy, parts


class Learner:
    """Computes values and gradients of many decisions in chunks of one shape, compiled once.

    Parameters
    ----------
    value_weight
        See `loss`.
    clip
        See `decision_losses`.
    """

    def __init__(self, variant: Variant, *, value_weight: float, chunk: int, clip: float | None = None) -> None:
        self._chunk = chunk
        self._variant, self._value_weight, self._clip = variant, value_weight, clip

    def judged(
        self, parameters: Parameters, seen: Observation, slot: NDArray[np.int32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """Return the values of observations in units of the targets, and ln pi(slot); each of shape (decisions,)."""
        judge = _compiled_judge(self._variant)
        values, logarithms = [], []
        for rows, count in self._chunks(np.arange(len(seen.mask))):
            worth, logarithm = judge(parameters, Observation._make(array[rows] for array in seen), slot[rows])
            values.append(np.asarray(worth, dtype=np.float64)[:count])
            logarithms.append(np.asarray(logarithm)[:count])
        return np.concatenate(values), np.concatenate(logarithms)

    def gradient(
        self, parameters: Parameters, batch: DecisionBatch, entropy_weight: float, rows: NDArray[np.int64] | None = None
    ) -> tuple[Parameters, Losses]:
        """Return the gradient of the mean loss of a batch, or of some rows of it, and the parts of that loss.

        Chunks are summed in order.
        """
        gradient_of = _compiled_gradient(self._variant, self._value_weight, self._clip)
        chosen = np.arange(len(batch.slot)) if rows is None else rows
        total: Any = None
        for part, count in self._chunks(chosen):
            weight = np.zeros(self._chunk, dtype=np.float32)
            weight[:count] = 1 / len(chosen)
            seen = Observation._make(array[part] for array in batch.seen)
            advantage, target, logarithm = batch.advantage[part], batch.target[part], batch.logarithm[part]
            piece = DecisionBatch(seen, batch.slot[part], advantage, target, weight, logarithm)
            found = gradient_of(parameters, piece, np.float32(entropy_weight))
            total = found if total is None else jax.tree.map(jnp.add, total, found)
        gradient, parts = total
        return gradient, Losses(*(float(part) for part in parts))

    def _chunks(self, rows: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], int]]:
        """Yield chunks of rows, each with the number of rows that count; the last one repeats its last row."""
        for begin in range(0, len(rows), self._chunk):
            part = rows[begin : begin + self._chunk]
            yield np.pad(part, (0, self._chunk - len(part)), mode="edge"), len(part)


@cache
def _compiled_gradient(variant: Variant, value_weight: float, clip: float | None) -> Any:
    """Return the gradient of the loss, compiled once per process and shape."""
    whole = partial(loss, variant=variant, value_weight=value_weight, clip=clip)
    return jax.jit(jax.grad(whole, has_aux=True), compiler_options=COMPILER_OPTIONS)


@cache
def _compiled_judge(variant: Variant) -> Any:
    """Return value and ln pi(slot) of many decisions, compiled once per process and shape."""

    def one(parameters: Parameters, seen: Observation, slot: Any) -> tuple[Any, Any]:
        """Return those of one decision."""
        embedding = embed(jnp, parameters, seen, variant)
        logarithms = jax.nn.log_softmax(scores(jnp, parameters, seen, embedding))
        return value(jnp, parameters, seen, embedding), logarithms[slot]

    return jax.jit(jax.vmap(one, in_axes=(None, 0, 0)), compiler_options=COMPILER_OPTIONS)


@cache
def _optimiser(max_norm: float | None) -> tuple[Any, Any]:
    """Return the initial state and the compiled step of an optimiser."""
    limits = [] if max_norm is None else [optax.clip_by_global_norm(max_norm)]
    optimiser = optax.chain(*limits, optax.scale_by_adam())

    def step(parameters: Parameters, state: Any, gradient: Parameters, rate: Any) -> tuple[Any, Any]:
        """Make a step."""
        changes, state = optimiser.update(gradient, state, parameters)
        return jax.tree.map(lambda array, change: array - rate * change, parameters, changes), state

    return optimiser.init, jax.jit(step, compiler_options=COMPILER_OPTIONS)


class Descent:
    """Adam with an optional largest norm of the gradient.

    Parameters
    ----------
    parameters
        Initial parameters.
    learning_rate
        Learning rate; may be changed between steps.
    max_norm
        Larger gradients are shortened to it; None for no limit.
    """

    def __init__(self, parameters: Parameters, *, learning_rate: float, max_norm: float | None = None) -> None:
        begin, self._step = _optimiser(max_norm)
        self.parameters, self._state = parameters, begin(parameters)
        self.learning_rate = learning_rate

    def step(self, gradient: Parameters) -> None:
        """Make a step against a gradient."""
        rate = np.float32(self.learning_rate)
        self.parameters, self._state = self._step(self.parameters, self._state, gradient, rate)


def to_numpy(parameters: Parameters) -> Parameters:
    """Return parameters as arrays of NumPy."""
    return {name: np.array(array, dtype=np.float32) for name, array in parameters.items()}
