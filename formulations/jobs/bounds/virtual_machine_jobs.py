"""The jobs as one machine that is as fast as all GPUs together sees them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.jobs.certified_times import least_durations
from instances.jobs.interference import FULL_SPEED
from instances.jobs.jobs_objective import objective_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualMachineJobs:
    """Jobs on a machine of G GPUs; everything in Python's integers, one entry per job.

    Interference. A running job does speed[i] <= 1000 of its 1000 d(x) units per tick. With one job per GPU all bounds
    on this machine hold as they stand: give job i the speed g[i] speed[i] / (1000 G) in the place of g[i] / G. They sum
    to at most 1, and job i receives at least g[i] d^lb[i] / G by C[i] >= r[i] + d^lb[i]. For L3 count the last units of
    the run only, which amount to 1000 d^lb[i]: at most the part y / d^lb[i] of them falls in the last y ticks, so that
    their mean time is at most C[i] - d^lb[i] / 2, and the rest of the proof is as without interference.

    With two jobs per GPU let Phi = max(1, largest (pair[c, c'] + pair[c', c]) / 1000 of two jobs that may share one).
    A GPU carries one job of speed at most 1000, or two whose speeds sum to at most 1000 Phi. So everything holds with
    Gamma = G Phi in the place of G. To stay with integers, GPUs are then counted in parts: `num_gpus` is G times a and
    gang sizes are g times b with Phi = a / b. (Section 2 of the reference; ours.)

    Parameters
    ----------
    num_gpus
        G, or Gamma in parts: at most so many GPUs are busy with these jobs at any time.
    release
        Ticks.
    weight
        At least 1.
    gang_size
        GPUs that the job holds while it runs, in parts where `num_gpus` is.
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
        above, below = work_per_gpu(instance)
        return cls(
            num_gpus=instance.num_gpus * above,
            release=tuple(instance.release.tolist()),
            weight=tuple(objective_weights(instance, objective).tolist()),
            gang_size=tuple(gang * below for gang in instance.gang_size.tolist()),
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


def work_per_gpu(instance: JobsInstance) -> tuple[int, int]:
    """Return Phi in lowest terms: what a GPU does per tick over what it does with one job; (1, 1) without sharing."""
    most = FULL_SPEED if instance.interference is None else instance.interference.largest_pair_sum()
    divisor = math.gcd(most, FULL_SPEED)
    return most // divisor, FULL_SPEED // divisor
