"""Sums of completion times by one machine as fast as all GPUs: SRPT, mean busy time, rank by rank, by sets of kinds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from formulations.preemptive_machine import busy_areas, srpt_times
from formulations.time_left import without_limit
from instances.jobs.interference import FULL_SPEED
from instances.jobs.iteration_time import gpus_of_kind, least_durations
from instances.jobs.objective import objective_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from instances.jobs.instance import JobsInstance
    from instances.jobs.objective import JobsObjective


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualMachineJobs:
    """Jobs on a machine of G GPUs; everything in Python's integers, one entry per job.

    Job i becomes a preemptive job of length q[i] = g[i] d^lb[i] / G on one machine of speed 1: give it the speed g[i] /
    G while it runs. At most G GPUs are busy, so the speeds sum to at most 1, and job i receives at least q[i] by its
    completion. In integers, releases are r[i] G and lengths g[i] d^lb[i] (docs/bounds.md, section 7.2).

    Under interference all bounds hold as they stand with one job per GPU. With two jobs per GPU let Phi = max(1,
    largest (pair[c, c'] + pair[c', c]) / 1000 of two jobs that may share one): everything holds with G Phi in the place
    of G. To stay with integers, GPUs are then counted in parts: `num_gpus` is G a and gang sizes are g b, with Phi = a
    / b (docs/bounds.md, section 7.10; ours).

    Parameters
    ----------
    num_gpus
        G, or G Phi in parts: at most so many GPUs are busy with these jobs at any time.
    gang_size
        GPUs that each job holds while it runs, in parts where `num_gpus` is.
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
        """Return some of the jobs, on a machine of `num_gpus` GPUs if that is given."""
        return VirtualMachineJobs(
            num_gpus=self.num_gpus if num_gpus is None else num_gpus,
            release=tuple(self.release[job] for job in jobs),
            weight=tuple(self.weight[job] for job in jobs),
            gang_size=tuple(self.gang_size[job] for job in jobs),
            least_duration=tuple(self.least_duration[job] for job in jobs),
        )


def work_per_gpu(instance: JobsInstance) -> tuple[int, int]:
    """Return Phi in lowest terms: the most work of a GPU per tick relative to one job alone; (1, 1) without sharing."""
    most = FULL_SPEED if instance.interference is None else instance.interference.largest_pair_sum()
    divisor = math.gcd(most, FULL_SPEED)
    return most // divisor, FULL_SPEED // divisor


def virtual_srpt(
    instance: JobsInstance, objective: JobsObjective, *, seconds_left: Callable[[], float] = without_limit
) -> int:
    """Return L1, rounded up: a lower bound on sum w C in ticks.

    L1 is the least sum of completion times on the machine of `VirtualMachineJobs`, which shortest remaining processing
    time first attains (Schrage 1968). Every schedule, served in time slices by earliest C[i], gives a preemptive
    one-machine schedule with completions of at most C[i]. Weights are taken in layers, as in the bound `srpt` for DAGs.
    Cost: O(N log N) per layer (docs/bounds.md, section 7.4; the mapping follows the abstract of Luo et al. 2025, proof
    and layers are ours).
    """
    jobs = VirtualMachineJobs.of(instance, objective)
    return -(-srpt_value(jobs, seconds_left) // 1)


def srpt_value(jobs: VirtualMachineJobs, seconds_left: Callable[[], float] = without_limit) -> Fraction:
    """Return L1 before rounding, in ticks, layer by layer of weight; L2 of the layers for which no seconds are left."""
    total, below = 0, 0
    for level in sorted(set(jobs.weight)):
        if seconds_left() <= 0:
            return Fraction(total, jobs.num_gpus) + _above(jobs, below)
        layer = jobs.part([job for job, weight in enumerate(jobs.weight) if weight >= level])
        total += (level - below) * sum(srpt_times(layer.scaled_release, layer.work))
        below = level
    return Fraction(total, jobs.num_gpus)


def release_plus_duration(instance: JobsInstance, objective: JobsObjective) -> int:
    """Return L2 = sum w[i] (r[i] + d^lb[i]): a lower bound on sum w C in ticks.

    A job starts at its release or later and takes at least d^lb under every placement. Cost: O(N) (docs/bounds.md,
    section 7.3; textbook).
    """
    return head_value(VirtualMachineJobs.of(instance, objective))


def head_value(jobs: VirtualMachineJobs) -> int:
    """Return L2 in ticks."""
    return sum(weight * head for weight, head in zip(jobs.weight, jobs.head, strict=True))


def _above(jobs: VirtualMachineJobs, below: int) -> int:
    """Return L2 in ticks of the layers above a weight."""
    return sum(max(weight - below, 0) * head for weight, head in zip(jobs.weight, jobs.head, strict=True))


_BITS = 80
"""Every job's term is rounded down to a multiple of 2**-_BITS; sums of exact fractions would grow without end."""


def jobs_mean_busy_time(instance: JobsInstance, objective: JobsObjective) -> int:
    """Return L3, rounded up: a lower bound on sum w C in ticks, for any weights.

        L3 = sum w[i] M[i] + 1/2 sum w[i] d^lb[i]

    where M[i] is the mean of the times at which job i is served on the machine of `VirtualMachineJobs` that always
    serves the released job of largest w[i] / q[i] (ties: release, number), preemptively. In any schedule, give job i
    the speed g[i] / G during the last d^lb[i] ticks of its run only: it receives exactly q[i], after its release,
    around the mean time C[i] - d^lb[i] / 2; and no schedule of total speed at most 1 has a smaller sum w M than that
    rule. Cost: O(N log N) (docs/bounds.md, section 7.5).

    References
    ----------
    Goemans, Queyranne, Schulz, Skutella and Wang (2002), for one machine; half the durations of gangs is ours.
    """
    return -(-mean_busy_value(VirtualMachineJobs.of(instance, objective)) // 1)


def mean_busy_value(jobs: VirtualMachineJobs) -> Fraction:
    """Return L3 in ticks before it is rounded up, exact to 2**-80 ticks per job, and never above the exact value."""
    work = jobs.work
    total = 0
    areas = busy_areas(jobs.scaled_release, work, jobs.weight)
    for weight, area, length, ticks in zip(jobs.weight, areas, work, jobs.least_duration, strict=True):
        # M = area / (2 work G) ticks: times on the machine are in 1 / G ticks.
        numerator = weight * (area + ticks * length * jobs.num_gpus)
        total += (numerator << _BITS) // (2 * length * jobs.num_gpus)
    return Fraction(total, 1 << _BITS)


def rank_wise(
    instance: JobsInstance, objective: JobsObjective, *, seconds_left: Callable[[], float] = without_limit
) -> int:
    """Return a lower bound on sum w C in ticks that is never below `virtual_srpt` and `release_plus_duration`.

    The q-th smallest completion time of any schedule is at least the q-th smallest of SRPT, rounded up to a tick,
    because SRPT has the most jobs done by any time (Schrage 1968); it is also at least the q-th smallest r + d^lb. The
    larger one is summed over the ranks, in layers of weight as in `virtual_srpt`. By rank, never by job: a job may end
    before its own SRPT time. Cost: O(N log N) per layer (docs/bounds.md, section 7.6; ours).
    """
    return rank_wise_value(VirtualMachineJobs.of(instance, objective), seconds_left)


def rank_wise_value(jobs: VirtualMachineJobs, seconds_left: Callable[[], float] = without_limit) -> int:
    """Return the bound of some jobs in ticks; L2 of the layers for which no seconds are left."""
    total, below = 0, 0
    for level in sorted(set(jobs.weight)):
        if seconds_left() <= 0:
            return total + _above(jobs, below)
        layer = jobs.part([job for job, weight in enumerate(jobs.weight) if weight >= level])
        by_srpt = (-(-time // jobs.num_gpus) for time in sorted(srpt_times(layer.scaled_release, layer.work)))
        total += (level - below) * sum(max(pair) for pair in zip(by_srpt, sorted(layer.head), strict=True))
        below = level
    return total


MAX_SETS = 64
"""Once so many unions of allowed sets of kinds are found, no larger ones are looked for."""


def sets_of_kinds(
    instance: JobsInstance, objective: JobsObjective, *, seconds_left: Callable[[], float] = without_limit
) -> int:
    """Return a lower bound on sum w C in ticks from jobs that are confined to some kinds.

    For a set Z of kinds let J_Z be the jobs all of whose stages may use kinds of Z only, and G_Z the GPUs of those
    kinds. At most G_Z GPUs are busy with jobs of J_Z, so all bounds above hold for J_Z alone with G_Z in the place of G
    (G_Z Phi where two jobs may share a GPU). The best of them plus the best bound of all other jobs alone, on all GPUs,
    is a bound, because the two sets of jobs are disjoint. The largest value over all Z that are unions of sets that
    some job may use is returned; if all kinds are allowed everywhere it is the best of L1, L2, L3 and `rank_wise`.
    Cost: at most about `MAX_SETS` times that of these (docs/bounds.md, section 7.7; ours).
    """
    everything = VirtualMachineJobs.of(instance, objective)
    capacity = (gpus_of_kind(instance) * work_per_gpu(instance)[0]).tolist()
    usable = _usable_kinds(instance)
    best = _best(everything, seconds_left)
    for kinds in _unions(set(usable)):
        if seconds_left() <= 0:
            break
        inside = [job for job, own in enumerate(usable) if own <= kinds]
        others = [job for job, own in enumerate(usable) if not own <= kinds]
        confined = everything.part(inside, num_gpus=sum(capacity[kind] for kind in kinds))
        best = max(best, _best(confined, seconds_left) + _best(everything.part(others), seconds_left))
    return best


def _best(jobs: VirtualMachineJobs, seconds_left: Callable[[], float]) -> int:
    """Return the best bound of some jobs on their machine."""
    if not jobs.release:
        return 0
    fractions = max(mean_busy_value(jobs), srpt_value(jobs, seconds_left))
    return max(math.ceil(fractions), head_value(jobs), rank_wise_value(jobs, seconds_left))


def _usable_kinds(instance: JobsInstance) -> list[frozenset[int]]:
    """Return the kinds that the stages of each job may use."""
    found = []
    for job in range(instance.num_jobs):
        allowed = (instance.time_of[instance.stages_of(job)] > 0).any(axis=0)
        found.append(frozenset(np.flatnonzero(allowed).tolist()))
    return found


def _unions(sets: set[frozenset[int]]) -> Iterator[frozenset[int]]:
    """Yield unions of sets, each once; not all of them if there are many."""
    seen = set(sets)
    yield from sorted(seen, key=sorted)
    frontier = seen
    while frontier and len(seen) <= MAX_SETS:
        frontier = {one | other for one in frontier for other in sets} - seen
        seen |= frontier
        yield from sorted(frontier, key=sorted)
