"""The jobs as one machine that is as fast as all GPUs together sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.jobs.certified_times import least_durations
from instances.jobs.jobs_objective import objective_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualMachineJobs:
    """Jobs on a machine of G GPUs; everything in Python's integers, one entry per job.

    Parameters
    ----------
    num_gpus
        G: at most so many GPUs are busy with these jobs at any time.
    release
        Ticks.
    weight
        At least 1.
    gang_size
        GPUs that the job holds while it runs.
    least_duration
        d^lb in ticks: no placement makes the job shorter.
    """

    num_gpus: int
    release: tuple[int, ...]
    weight: tuple[int, ...]
    gang_size: tuple[int, ...]
    least_duration: tuple[int, ...]

    @classmethod
    def of(cls, instance: JobsInstance, objective: JobsObjective) -> VirtualMachineJobs:
        """Return all jobs of an instance on all its GPUs, with the weights of an objective."""
        return cls(
            num_gpus=instance.num_gpus,
            release=tuple(instance.release.tolist()),
            weight=tuple(objective_weights(instance, objective).tolist()),
            gang_size=tuple(instance.gang_size.tolist()),
            least_duration=tuple(least_durations(instance).tolist()),
        )

    @property
    def work(self) -> list[int]:
        """GPU-ticks g d^lb of each job: its length on the machine in 1 / G ticks."""
        return [gang * ticks for gang, ticks in zip(self.gang_size, self.least_duration, strict=True)]

    @property
    def scaled_release(self) -> list[int]:
        """Release of each job in 1 / G ticks."""
        return [release * self.num_gpus for release in self.release]

    @property
    def head(self) -> list[int]:
        """Release plus least duration of each job in ticks: no schedule completes it earlier."""
        return [release + ticks for release, ticks in zip(self.release, self.least_duration, strict=True)]

    def part(self, jobs: Sequence[int], *, num_gpus: int | None = None) -> VirtualMachineJobs:
        """Return some of the jobs, on a machine of fewer GPUs where that is said."""
        return VirtualMachineJobs(
            num_gpus=self.num_gpus if num_gpus is None else num_gpus,
            release=tuple(self.release[job] for job in jobs),
            weight=tuple(self.weight[job] for job in jobs),
            gang_size=tuple(self.gang_size[job] for job in jobs),
            least_duration=tuple(self.least_duration[job] for job in jobs),
        )
