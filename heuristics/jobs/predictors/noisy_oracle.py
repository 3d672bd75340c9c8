"""The truth with a multiplicative error of known size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.jobs.jobs_instance import JobsInstance


class NoisyOracle:
    """Predicts max(1, round(n * mu**U)) with U uniform in [-1, 1], so that the error is a factor of mu at most.

    U is drawn per job when the predictor is made: the same generator gives every `mu` the same U, in whatever order the
    jobs arrive. Rounding adds to the factor where n is small.

    Parameters
    ----------
    instance
        What is scheduled.
    rng
        Source of U.
    mu
        Largest factor of the error, at least 1; 1 is the oracle.

    Raises
    ------
    ValueError
        If `mu` is below 1 or not finite.
    """

    def __init__(self, instance: JobsInstance, rng: np.random.Generator, *, mu: float = 2.0) -> None:
        if not 1 <= mu < np.inf:
            raise ValueError(f"mu: expected a finite number of at least 1, got {mu}.")
        factors: NDArray[np.float64] = mu ** rng.uniform(-1.0, 1.0, size=instance.num_jobs)
        noisy = zip(instance.iterations.tolist(), factors.tolist(), strict=True)
        self._predictions: list[int] = [max(1, round(n * factor)) for n, factor in noisy]

    def predict(self, job: int, time: int) -> int:
        """Return the true iterations times the job's factor."""
        return self._predictions[job]

    def observe(self, job: int, time: int) -> None:
        """Learn nothing."""
