"""Instances for fine-tuning the network on one instance."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from instances.dag_instance import NOT_ALLOWED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from instances.dag_instance import DagInstance


def fine_tuning_stream(instance: DagInstance, spread: float) -> Callable[[np.random.Generator], Iterator[DagInstance]]:
    """Return a stream that alternates between one instance and perturbations of it; ours.

    A perturbation multiplies every duration above 0 and the bytes of every edge by exp(spread N), N standard normal,
    and rounds to at least 1. Tasks, edges, memory, links and the pairs that are not allowed stay as they are.

    Parameters
    ----------
    instance
        What the network is tuned to.
    spread
        At least 0; with 0 the stream is that instance alone.

    Raises
    ------
    ValueError
        If the spread is out of range, or there is nothing to place.
    """
    if instance.num_tasks == 0:
        raise ValueError("tasks: expected at least one, got none.")
    if not 0.0 <= spread <= 10.0:
        raise ValueError(f"spread: expected a number in 0..10, got {spread}.")

    def stream(rng: np.random.Generator) -> Iterator[DagInstance]:
        while True:
            yield instance
            if spread > 0:
                yield _perturbed(instance, spread, rng)

    return stream


def _perturbed(instance: DagInstance, spread: float, rng: np.random.Generator) -> DagInstance:
    """Return one perturbation."""
    durations = _scaled(instance.durations, spread, rng)
    return replace(
        instance,
        name=f"{instance.name}-perturbed",
        durations=np.where(instance.durations == NOT_ALLOWED, NOT_ALLOWED, durations),
        edge_bytes=_scaled(instance.edge_bytes, spread, rng),
    )


def _scaled(values: np.ndarray, spread: float, rng: np.random.Generator) -> np.ndarray:
    """Multiply what is above 0 by log-normal noise and round to at least 1."""
    noisy = np.rint(values * np.exp(spread * rng.standard_normal(values.shape)))
    return np.where(values > 0, np.maximum(noisy, 1.0), values).astype(np.int64)
