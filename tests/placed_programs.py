"""What the tests of branching over linear programs of placements share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.dag.instance import DagInstance

if TYPE_CHECKING:
    from collections.abc import Callable


def chain_of_three() -> DagInstance:
    """Return three equal tasks in a chain, on GPUs of 4, 6 and 8 ticks that hold two each, 10 ticks apart."""
    return DagInstance.from_lists(
        [[4, 6, 8]] * 3,
        edges=[(0, 1, 10), (1, 2, 10)],
        task_memory=[1] * 3,
        gpu_memory=[2] * 3,
    )


def spoiled(original: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Return a function whose multipliers are those of another one, each times a random number of any sign."""
    rng = np.random.default_rng(7)

    def prices(self: object, duals: object) -> np.ndarray:
        right = original(self, duals)
        return right * rng.choice([0.0, -1.0, 1.0, 3.0], size=right.shape)

    return prices
