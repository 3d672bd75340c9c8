"""What is reported of a schedule of jobs beside its objective: JCT, waiting, utilisation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.jobs.iteration_time import least_durations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule


@dataclass(frozen=True, slots=True, kw_only=True)
class InterferenceStatistics:
    """What jobs lost to others on their servers and GPUs.

    Parameters
    ----------
    lost_mean, lost_max
        Ticks that a job ran longer than it would have alone.
    speed_mean, speed_p05
        Ticks that a job would have run alone over those that it ran: 1 for a job that nothing slowed. The second is
        that of a job: the smallest value that 5 % of all jobs do not exceed.
    """

    lost_mean: float
    lost_max: int
    speed_mean: float
    speed_p05: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsStatistics:
    """Figures of one schedule; times in ticks.

    Parameters
    ----------
    jct_mean, jct_p50, jct_p95, jct_p99, jct_max
        JCT, completion less arrival. A percentile is that of a job: the smallest JCT that so many of all jobs do not
        exceed.
    queueing_mean, queueing_max
        Start minus arrival.
    stretch_mean, stretch_max
        Duration that a job would have alone under its placement, over the shortest that any placement could have.
    utilisation
        GPU-ticks with at least one job, over those of all GPUs from the first arrival to the last completion.
    interference
        What jobs lose to each other; None if they do not interfere.
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
    interference: InterferenceStatistics | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON; ``interference`` is there only where jobs interfere."""
        values = asdict(self)
        if self.interference is None:
            del values["interference"]
        return values

    def rows(self) -> dict[str, str]:
        """Return the figures for readers, as label and text."""
        rows = {
            "JCT": f"mean {self.jct_mean:.1f}, p50 {self.jct_p50}, p95 {self.jct_p95}, p99 {self.jct_p99}, "
            f"max {self.jct_max} ticks",
            "queueing": f"mean {self.queueing_mean:.1f}, max {self.queueing_max} ticks",
            "stretch": f"mean {self.stretch_mean:.3f}, max {self.stretch_max:.3f}",
            "utilisation": f"{100 * self.utilisation:.1f} %",
        }
        if self.interference is not None:
            slowed = self.interference
            rows["interference"] = (
                f"mean speed {slowed.speed_mean:.3f}, 5 % of jobs at most {slowed.speed_p05:.3f}; "
                f"mean {slowed.lost_mean:.1f}, max {slowed.lost_max} ticks lost"
            )
        return rows


def jobs_statistics(
    instance: JobsInstance, schedule: JobsSchedule, durations: NDArray[np.int64], alone: NDArray[np.int64]
) -> JobsStatistics | None:
    """Return the figures of a schedule that verifies; None where there are no jobs.

    Parameters
    ----------
    durations
        How long every job ran, in ticks, shape (jobs,).
    alone
        How long it would have run alone, shape (jobs,).
    """
    if instance.num_jobs == 0:
        return None
    completion = schedule.start + durations
    jct, queueing = completion - instance.release, schedule.start - instance.release
    median, high, highest = (int(np.percentile(jct, share, method="inverted_cdf")) for share in (50, 95, 99))
    stretch = alone / least_durations(instance)
    held = sum(g * d for g, d in zip(instance.gang_size.tolist(), durations.tolist(), strict=True))
    if instance.share > 1:
        held = _busy_ticks(instance, schedule, completion)
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
        interference=None if instance.interference is None else _interference(durations, alone),
    )


def _interference(durations: NDArray[np.int64], alone: NDArray[np.int64]) -> InterferenceStatistics:
    """Return what jobs lost."""
    speed = alone / durations
    return InterferenceStatistics(
        lost_mean=_mean(durations - alone),
        lost_max=int((durations - alone).max()),
        speed_mean=float(speed.mean()),
        speed_p05=float(np.percentile(speed, 5, method="inverted_cdf")),
    )


def _busy_ticks(instance: JobsInstance, schedule: JobsSchedule, completion: NDArray[np.int64]) -> int:
    """Return the GPU-ticks with at least one job, where two may share a GPU."""
    spans: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for job, (start, end) in enumerate(zip(schedule.start.tolist(), completion.tolist(), strict=True)):
        for gpu in schedule.gpus_of(instance, job):
            spans.setdefault(gpu, []).append((start, end))
    busy = 0
    for own in spans.values():
        covered = 0
        for start, end in sorted(own):
            busy += max(0, end - max(start, covered))
            covered = max(covered, end)
    return busy


def _mean(ticks: NDArray[np.int64]) -> float:
    """Return a mean whose sum may be larger than 64 bits hold."""
    return float(Fraction(sum(ticks.tolist()), len(ticks)))
