"""Sums of completion times by one machine as fast as all GPUs: SRPT, mean busy time, rank by rank, by sets of kinds."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

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


def served(
    release: Sequence[int], length: Sequence[int], key: Callable[[int, int], Any]
) -> Iterator[tuple[int, int, int]]:
    """Yield who is served when, in order of time: (job, from, until), idle times left out.

    Parameters
    ----------
    release
        Of each job.
    length
        Of each job, at least 1; same unit.
    key
        Of a job and what is left of it: the released job with the least key is served, ties by release, then number.
        The key of a job that waits must not change, and that of the served one must not rise.
    """
    arrivals = sorted(range(len(release)), key=lambda job: (release[job], job))
    waiting: list[tuple[Any, int, int, int]] = []  # key, release, job, what is left
    time, position = 0, 0
    while position < len(arrivals) or waiting:
        if not waiting:
            time = max(time, release[arrivals[position]])
        while position < len(arrivals) and release[arrivals[position]] <= time:
            job = arrivals[position]
            heapq.heappush(waiting, (key(job, length[job]), release[job], job, length[job]))
            position += 1
        _, _, job, left = heapq.heappop(waiting)
        until = time + left
        if position < len(arrivals):
            until = min(until, release[arrivals[position]])
        if until > time:
            yield job, time, until
        left -= until - time
        time = until
        if left:
            heapq.heappush(waiting, (key(job, left), release[job], job, left))


def virtual_srpt(instance: JobsInstance, objective: JobsObjective) -> int:
    """Return L1, rounded up: a lower bound on sum w C in ticks.

    With q[i] = g[i] d^lb[i] / G, L1 is the least sum of completion times of preemptive jobs of lengths q[i] on one
    machine of speed 1, which shortest remaining processing time first attains (Schrage 1968); in integers with releases
    r[i] G and lengths g[i] d^lb[i], divided by G at the end.

    Proof. Take any schedule and give job i the speed g[i] / G while it runs. At most G GPUs are busy, so the speeds sum
    to at most 1, and job i receives at least q[i] by C[i]. Served in time slices by earliest C[i], this is a preemptive
    one-machine schedule with completions of at most C[i]. Kinds enter through d^lb alone.

    Weights: with 0 = v_0 < v_1 < ... the different weights, sum w[i] C[i] = sum_l (v_l - v_(l-1)) (sum of C[i] over the
    jobs of weight at least v_l), and every layer has its bound of equal weights. With all weights 1 that is L1 itself;
    the layers are ours.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    """
    jobs = VirtualMachineJobs.of(instance, objective)
    return -(-srpt_value(jobs) // 1)


def srpt_value(jobs: VirtualMachineJobs) -> Fraction:
    """Return L1 before rounding, in ticks, layer by layer of weight."""
    total, below = 0, 0
    for level in sorted(set(jobs.weight)):
        layer = jobs.part([job for job, weight in enumerate(jobs.weight) if weight >= level])
        total += (level - below) * sum(srpt_times(layer))
        below = level
    return Fraction(total, jobs.num_gpus)


def srpt_times(jobs: VirtualMachineJobs) -> list[int]:
    """Return the completion time of each job under shortest remaining processing time first, in 1 / G ticks."""
    times = [0] * len(jobs.release)
    for job, _, until in served(jobs.scaled_release, jobs.work, lambda _, left: left):
        times[job] = until
    return times


def release_plus_duration(instance: JobsInstance, objective: JobsObjective) -> int:
    """Return L2 = sum w[i] (r[i] + d^lb[i]): a lower bound on sum w C in ticks.

    Proof. A job starts at its release or later and takes at least d^lb under every placement. Any weights.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    """
    return head_value(VirtualMachineJobs.of(instance, objective))


def head_value(jobs: VirtualMachineJobs) -> int:
    """Return L2 in ticks."""
    return sum(weight * head for weight, head in zip(jobs.weight, jobs.head, strict=True))


_BITS = 80
"""Every job's term is rounded down to a multiple of 2**-_BITS: sums of exact fractions would grow without end."""


def jobs_mean_busy_time(instance: JobsInstance, objective: JobsObjective) -> int:
    """Return L3, rounded up: a lower bound on sum w C in ticks, for any weights.

        L3 = sum w[i] M[i] + 1/2 sum w[i] d^lb[i]

    where M[i] is the mean of the times at which job i is served on one machine that always serves the released job of
    largest w[i] / q[i] (ties: release, number), preemptively, with q[i] = g[i] d^lb[i] / G.

    Proof. Give job i the speed g[i] / G during the last d^lb[i] ticks of its run only: it receives exactly q[i], after
    its release, around the mean time C[i] - d^lb[i] / 2. It remains that the rule minimises sum w M over all schedules
    of total speed at most 1. With w / q as the integral over z > 0 of [z <= w / q], sum w M is an integral over z of
    the backlog of the jobs with ratio at least z, and the rule serves each such class whenever it has released work, so
    it makes all these backlogs smallest at once. (Goemans, Queyranne, Schulz, Skutella and Wang 2002 for one machine;
    half the durations of gangs: ours.)

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    """
    return -(-mean_busy_value(VirtualMachineJobs.of(instance, objective)) // 1)


def mean_busy_value(jobs: VirtualMachineJobs) -> Fraction:
    """Return L3 in ticks before it is rounded up, exact to 2**-80 ticks per job, and never above the exact value."""
    work = jobs.work
    total = 0
    for weight, area, length, ticks in zip(jobs.weight, busy_areas(jobs), work, jobs.least_duration, strict=True):
        # M = area / (2 work G) ticks: times on the machine are in 1 / G ticks.
        numerator = weight * (area + ticks * length * jobs.num_gpus)
        total += (numerator << _BITS) // (2 * length * jobs.num_gpus)
    return Fraction(total, 1 << _BITS)


def busy_areas(jobs: VirtualMachineJobs) -> list[int]:
    """Return for each job the sum of until^2 - from^2 over the stretches in which it is served, in 1 / G^2 ticks^2.

    Twice the integral of the time over its service: its mean busy time is this over 2 g d^lb, in 1 / G ticks.
    """
    work = jobs.work
    ratios = [Fraction(-weight, length) for weight, length in zip(jobs.weight, work, strict=True)]
    place_of = {ratio: place for place, ratio in enumerate(sorted(set(ratios)))}
    rank = [place_of[ratio] for ratio in ratios]  # numbers are compared much faster than fractions
    areas = [0] * len(work)
    for job, begin, until in served(jobs.scaled_release, work, lambda job, _: rank[job]):
        areas[job] += until * until - begin * begin
    return areas


def rank_wise(instance: JobsInstance, objective: JobsObjective) -> int:
    """Return a lower bound on sum w C in ticks that is never below `virtual_srpt` and `release_plus_duration`.

    Proof. By any time shortest remaining processing time first has the most jobs of the virtual machine done (Schrage
    1968), so the q-th smallest completion time of any schedule is at least the q-th smallest of SRPT, rounded up to a
    tick; it is also at least the q-th smallest r + d^lb. The larger one is summed over the ranks, in layers of weight
    as in `virtual_srpt`. By rank, never by job: a job may well end before its own SRPT time. (Ours.)

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    """
    return rank_wise_value(VirtualMachineJobs.of(instance, objective))


def rank_wise_value(jobs: VirtualMachineJobs) -> int:
    """Return the bound of some jobs in ticks."""
    total, below = 0, 0
    for level in sorted(set(jobs.weight)):
        layer = jobs.part([job for job, weight in enumerate(jobs.weight) if weight >= level])
        by_srpt = (-(-time // jobs.num_gpus) for time in sorted(srpt_times(layer)))
        total += (level - below) * sum(max(pair) for pair in zip(by_srpt, sorted(layer.head), strict=True))
        below = level
    return total


MAX_SETS = 64
"""Once so many unions of allowed sets of kinds were found, no larger ones are looked for."""


def sets_of_kinds(instance: JobsInstance, objective: JobsObjective) -> int:
    """Return a lower bound on sum w C in ticks from jobs that are confined to some kinds.

    For a set Z of kinds let J_Z be the jobs all of whose stages may use kinds of Z only, and G_Z the GPUs of those
    kinds. While jobs of J_Z run they hold GPUs of Z, so at most G_Z are busy with them, and L1, L3 and the rank-wise
    bound of these jobs alone hold with G_Z in the place of G. To the best of them is added the best bound of all other
    jobs alone on all GPUs; the sum is a bound as the two sets of jobs are disjoint. The largest over all Z that are
    unions of sets that some job may use is returned. (The reference's refinement takes L2 for the other jobs; more is
    ours.)
    Where two jobs may share a GPU, those of Z do at most Phi times as much, too: see `VirtualMachineJobs`.
    With all kinds allowed Z is the set of all kinds only, and this is the best of L1, L2, L3 and `rank_wise`.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    """
    everything = VirtualMachineJobs.of(instance, objective)
    capacity = (gpus_of_kind(instance) * work_per_gpu(instance)[0]).tolist()
    usable = _usable_kinds(instance)
    best = _best(everything)
    for kinds in _unions(set(usable)):
        inside = [job for job, own in enumerate(usable) if own <= kinds]
        others = [job for job, own in enumerate(usable) if not own <= kinds]
        confined = everything.part(inside, num_gpus=sum(capacity[kind] for kind in kinds))
        best = max(best, _best(confined) + _best(everything.part(others)))
    return best


def _best(jobs: VirtualMachineJobs) -> int:
    """Return the best bound of some jobs on their machine."""
    if not jobs.release:
        return 0
    fractions = max(srpt_value(jobs), mean_busy_value(jobs))
    return max(math.ceil(fractions), head_value(jobs), rank_wise_value(jobs))


def _usable_kinds(instance: JobsInstance) -> list[frozenset[int]]:
    """Return the kinds that the stages of each job may use."""
    found = []
    for job in range(instance.num_jobs):
        allowed = (instance.time_of[instance.stages_of(job)] > 0).any(axis=0)
        found.append(frozenset(np.flatnonzero(allowed).tolist()))
    return found


def _unions(sets: set[frozenset[int]]) -> Iterator[frozenset[int]]:
    """Yield unions of sets, each once; not all of them where they are many."""
    seen = set(sets)
    yield from sorted(seen, key=sorted)
    frontier = seen
    while frontier and len(seen) <= MAX_SETS:
        frontier = {one | other for one in frontier for other in sets} - seen
        seen |= frontier
        yield from sorted(frontier, key=sorted)
