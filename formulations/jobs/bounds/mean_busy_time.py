"""Virtual machine and durations in one relaxation: mean busy times plus half the durations."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from formulations.jobs.bounds.preemptive_machine import served
from formulations.jobs.bounds.virtual_machine_jobs import VirtualMachineJobs

if TYPE_CHECKING:
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective

_BITS = 80
"""Every job's term is rounded down to a multiple of 2**-_BITS: sums of exact fractions would grow without end."""


def mean_busy_time(instance: JobsInstance, objective: JobsObjective) -> int:
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
