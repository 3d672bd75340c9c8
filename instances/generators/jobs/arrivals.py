"""Arrivals of jobs, up to a scale that the load decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def poisson_arrivals(rng: np.random.Generator, jobs: int) -> NDArray[np.float64]:
    """Draw arrivals of a Poisson process with rate 1, the first at 0, shape (jobs,)."""
    gaps = rng.exponential(1.0, jobs)
    gaps[:1] = 0.0
    return np.cumsum(gaps)


def bursty_arrivals(
    rng: np.random.Generator, jobs: int, *, burst_size: float, burst_speed: float
) -> NDArray[np.float64]:
    """Draw arrivals of a Poisson process that changes between a quiet and a busy state, the first at 0.

    Parameters
    ----------
    rng
        Source of arrivals.
    jobs
        How many.
    burst_size
        Mean number of jobs before the state changes, at least 1; numbers are geometric.
    burst_speed
        Rate in the busy state over the rate in the quiet one, at least 1; 1 gives a Poisson process.

    Returns
    -------
    NDArray[np.float64]
        Arrivals in ascending order, shape (jobs,).

    References
    ----------
    Fischer and Meier-Hellstern (1993), The Markov-modulated Poisson process cookbook: two states. That the state
    changes at arrivals only is ours.
    """
    changes = rng.random(jobs) < 1.0 / burst_size
    is_busy = (np.cumsum(changes) + rng.integers(2)) % 2 == 1
    gaps = rng.exponential(1.0, jobs) / np.where(is_busy, burst_speed, 1.0)
    gaps[:1] = 0.0
    return np.cumsum(gaps)
