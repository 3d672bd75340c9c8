"""The deep network and the critics once more, in NumPy with double precision and derivatives by differences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def plain_outputs(first: Array, layers: Array, last: Array, x: Array) -> Array:
    """Return the outputs, layer by layer as the formula says."""
    hidden = first @ x
    for layer in layers:
        hidden = np.maximum(layer @ hidden, 0.0) / np.sqrt(len(layer))
    return last @ hidden


def plain_log_softmax(logits: Array) -> Array:
    """Return the logarithms of the shares."""
    return logits - np.log(np.exp(logits).sum())


def differences(function: object, at: Array, step: float = 1e-6) -> Array:
    """Return the gradient by central differences."""
    gradient = np.zeros_like(at)
    for index in np.ndindex(at.shape):
        sides = []
        for sign in (1, -1):
            moved = at.copy()
            moved[index] += sign * step
            sides.append(function(moved))
        gradient[index] = (sides[0] - sides[1]) / (2 * step)
    return gradient


def plain_pass(
    first: Array, last: Array, layers: Array, centre: Array, steps: list[tuple], beta: float, radius: float
) -> tuple[Array, int]:
    """Return the running mean of one critic after its steps (x, next x, reward, discount), and the projections."""
    now, mean, hits = layers.copy(), layers.copy(), 0
    for k, (x, after, reward, discount) in enumerate(steps):

        def value(weights: Array, x: Array = x) -> float:
            return float(plain_outputs(first, weights, last, x)[0])

        delta = value(now) - reward - discount * value(now, after)
        now = now - beta * delta * differences(value, now)
        for h in range(len(now)):
            norm = np.linalg.norm(now[h] - centre[h])
            if norm > radius * (1 + 1e-6):
                hits += 1
                now[h] = centre[h] + (now[h] - centre[h]) * radius / norm
        mean = ((k + 1) * mean + now) / (k + 2)
    return mean, hits
