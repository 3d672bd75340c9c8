"""What is reported of a schedule of jobs beside its objective: JCT, waiting, utilisation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.certified_times import least_durations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.jobs.jobs_instance import JobsInstance


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsStatistics:
    """Figures of one schedule; times in ticks.

    Parameters
    ----------
    jct_mean, jct_p50, jct_p95, jct_p99, jct_max
        JCT, completion less arrival. A percentile is that of a job: the smallest JCT that so many of all jobs do not
        exceed.
    queueing_mean, queueing_max
        Start less arrival.
    stretch_mean, stretch_max
        Duration over the shortest that any placement could have.
    makespan
        Last completion.
    utilisation
        GPU-ticks held by jobs, over those of all GPUs from the first arrival to the last completion.
    """

    jct_mean: float
    jct_p50: int
    jct_p95: int
    jct_p99: int
    jct_max: int
    queueing_mean: float
    queueing_max: int
    stretch_mean: float
    stretch_max: float
    makespan: int
    utilisation: float

    def to_dict(self) -> dict[str, float | int]:
        """Return the fields for JSON."""
        return asdict(self)


def jobs_statistics(
    instance: JobsInstance, start: NDArray[np.int64], durations: NDArray[np.int64]
) -> JobsStatistics | None:
    """Return the figures of a schedule that verifies; None where there are no jobs.

    Parameters
    ----------
    instance
        What was scheduled.
    start, durations
        Of every job in ticks, shape (jobs,) each.
    """
    if instance.num_jobs == 0:
        return None
    completion = start + durations
    jct, queueing = completion - instance.release, start - instance.release
    median, high, highest = (int(np.percentile(jct, share, method="inverted_cdf")) for share in (50, 95, 99))
    stretch = durations / least_durations(instance)
    held = sum(g * d for g, d in zip(instance.gang_size.tolist(), durations.tolist(), strict=True))
    span = int(completion.max()) - int(instance.release.min())
    return JobsStatistics(
        jct_mean=_mean(jct),
        jct_p50=median,
        jct_p95=high,
        jct_p99=highest,
        jct_max=int(jct.max()),
        queueing_mean=_mean(queueing),
        queueing_max=int(queueing.max()),
        stretch_mean=float(stretch.mean()),
        stretch_max=float(stretch.max()),
        makespan=int(completion.max()),
        utilisation=float(Fraction(held, instance.num_gpus * span)),
    )


def _mean(ticks: NDArray[np.int64]) -> float:
    """Return a mean whose sum may be larger than 64 bits hold."""
    return float(Fraction(sum(ticks.tolist()), len(ticks)))
