"""Independent jobs with heavy-tailed run times that arrive at random or in bursts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from instances.generators.jobs.generate import JobStream
from instances.generators.jobs.training_job import checked_models, draw_training_job
from instances.jobs.instance import Job
from instances.parameters import check_integer, check_number, fields_as_parameters, set_checked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from instances.clusters.cluster import Cluster
    from instances.generators.jobs.training_job import TrainingJob


Tail = Literal["lognormal", "pareto"]
"""Shapes of run times."""

MAX_RATIO = 1e4
"""Run times are cut at this multiple of the median, so that one job does not decide everything."""


def run_times(
    rng: np.random.Generator, count: int, *, median_seconds: float, spread: float, tail: Tail
) -> NDArray[np.float64]:
    """Draw run times in seconds, shape (count,).

    Parameters
    ----------
    spread
        ``lognormal``: standard deviation of the natural logarithm. ``pareto``: the reciprocal of the shape, so that
        the mean of the uncut distribution is infinite from 1 on.
    tail
        Shape of the distribution.

    References
    ----------
    Run times in GPU clusters spread over orders of magnitude: Jeon et al. (2019), USENIX ATC; Hu et al. (2021), SC. The
    two shapes are ours.
    """
    if tail == "lognormal":
        factors = np.exp(spread * rng.standard_normal(count))
    else:
        factors = (2.0 * (1.0 - rng.random(count))) ** -spread  # 1 at the median
    return median_seconds * np.minimum(factors, MAX_RATIO)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingMix:
    """Which networks are trained, on how many GPUs, and for how long.

    Parameters
    ----------
    models
        Networks to draw from, equally likely; None stands for all of `NETWORK_MODELS`.
    max_gang
        Largest gang size that is drawn.
    median_seconds
        Median run time on the fastest kinds without traffic between servers.
    spread, tail
        Shape of the distribution of run times, as in `run_times`.
    """

    models: Sequence[str] | None = None
    max_gang: int = 32
    median_seconds: float = 600.0
    spread: float = 1.5
    tail: Literal["lognormal", "pareto"] = "lognormal"

    def __post_init__(self) -> None:
        """Check the ranges."""
        set_checked(
            self,
            models=checked_models(self.models),
            max_gang=check_integer("max_gang", self.max_gang, low=1),
            median_seconds=check_number("median_seconds", self.median_seconds, low=1e-6),
            spread=check_number("spread", self.spread, low=0.0, high=10.0),
        )
        if self.tail not in ("lognormal", "pareto"):
            raise ValueError(f"tail: expected lognormal or pareto, got {self.tail!r}.")

    def draw_job(self, rng: np.random.Generator, cluster: Cluster, tick_seconds: float) -> TrainingJob:
        """Draw a network with a gang that has a placement on the empty cluster."""
        max_gang = min(self.max_gang, len(cluster.kinds))
        return draw_training_job(rng, cluster, tick_seconds, self.models or (), max_gang=max_gang)

    def run_times(self, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        """Draw run times in seconds, shape (count,)."""
        return run_times(rng, count, median_seconds=self.median_seconds, spread=self.spread, tail=self.tail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bursts:
    """Quiet and busy times that take turns, see `bursty_arrivals`.

    Parameters
    ----------
    burst_size
        Mean number of jobs before quiet and busy times change.
    burst_speed
        Rate of arrivals in busy times over that in quiet ones.
    """

    burst_size: float = 10.0
    burst_speed: float = 20.0

    def __post_init__(self) -> None:
        """Check the ranges."""
        set_checked(
            self,
            burst_size=check_number("burst_size", self.burst_size, low=1.0),
            burst_speed=check_number("burst_speed", self.burst_speed, low=1.0),
        )

    def arrivals(self, rng: np.random.Generator, jobs: int) -> NDArray[np.float64]:
        """Draw arrivals, shape (jobs,)."""
        return bursty_arrivals(rng, jobs, burst_size=self.burst_size, burst_speed=self.burst_speed)


def independent_jobs(
    rng: np.random.Generator, cluster: Cluster, tick_seconds: float, jobs: int, mix: TrainingMix
) -> list[Job]:
    """Draw jobs with a network, a gang size and a run time each, without user and group, as nothing recurs."""
    made = []
    for run_time in mix.run_times(rng, check_integer("jobs", jobs, low=1)).tolist():
        training = mix.draw_job(rng, cluster, tick_seconds)
        made.append(
            Job(
                stages=training.stages,
                iterations=iterations_for(run_time, training.least_ticks, tick_seconds),
                micro_batches=training.micro_batches,
                model_tag=training.model_tag,
            )
        )
    return made


def iterations_for(seconds: float, least_ticks: int, tick_seconds: float) -> int:
    """Return the iterations that take about this long on the fastest kinds without traffic, at least 1."""
    return max(1, round(seconds / (least_ticks * tick_seconds)))


@fields_as_parameters
def poisson(
    rng: np.random.Generator, cluster: Cluster, tick_seconds: float, *, jobs: int, mix: TrainingMix = TrainingMix()
) -> JobStream:
    """Make independent jobs whose arrivals are a Poisson process."""
    made = independent_jobs(rng, cluster, tick_seconds, jobs, mix)
    return JobStream(jobs=made, arrivals=poisson_arrivals(rng, len(made)))


@fields_as_parameters
def bursty(
    rng: np.random.Generator,
    cluster: Cluster,
    tick_seconds: float,
    *,
    jobs: int,
    bursts: Bursts = Bursts(),
    mix: TrainingMix = TrainingMix(),
) -> JobStream:
    """Make independent jobs whose arrivals alternate between quiet and busy times."""
    made = independent_jobs(rng, cluster, tick_seconds, jobs, mix)
    return JobStream(jobs=made, arrivals=bursts.arrivals(rng, len(made)))
