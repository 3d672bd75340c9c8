"""The one judge of schedules of jobs: it shares no code with any method and imports no solver."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

from instances.jobs.jobs_violations import (
    BadReplicaCount,
    CapacityExceeded,
    JobsViolation,
    KindNotAllowed,
    OtherInstance,
    StartBeforeRelease,
    UnknownServer,
    WrongNumberOfJobs,
    WrongNumberOfStages,
    WrongReplicas,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_schedule import JobsSchedule

Placement = list[dict[int, int]]
"""For each stage of a job its replicas on each server that holds some."""


def verify_jobs_schedule(instance: JobsInstance, schedule: JobsSchedule) -> list[JobsViolation]:
    """List every violation of the jobs problem's constraints; an empty list means the schedule is right.

    Durations are computed here, from the formula and by code of its own: `iteration_time` is not called. A job holds
    its GPUs from its start, without interruption, for ceil(n * alpha(x)) ticks.

    Parameters
    ----------
    instance
        What is scheduled.
    schedule
        When its jobs start, and where.

    Returns
    -------
    list[JobsViolation]
        Which job, stage or server, and by how much. Where the schedule is one of another instance, or has another
        number of jobs or stages, only that is listed. Where a job is not placed as it asks for, its duration means
        nothing, and capacities are not checked.
    """
    if schedule.instance_sha256 != instance.sha256:
        return [OtherInstance(expected=instance.sha256, found=schedule.instance_sha256)]
    if len(schedule.start) != instance.num_jobs:
        return [WrongNumberOfJobs(expected=instance.num_jobs, scheduled=len(schedule.start))]
    if len(schedule.entry_offsets) - 1 != len(instance.replicas):
        return [WrongNumberOfStages(expected=len(instance.replicas), scheduled=len(schedule.entry_offsets) - 1)]
    placements = _placements(instance, schedule)
    misplaced = [wrong for job, stages in enumerate(placements) for wrong in _misplaced(instance, job, stages)]
    early = [*_early_starts(instance, schedule)]
    return misplaced + early if misplaced else [*early, *_exceeded(instance, schedule, placements)]


def _placements(instance: JobsInstance, schedule: JobsSchedule) -> list[Placement]:
    """Read the placement of every job out of the rows."""
    first, servers, counts = (
        schedule.entry_offsets.tolist(),
        schedule.entry_server.tolist(),
        schedule.entry_count.tolist(),
    )
    stages = [dict(zip(servers[begin:end], counts[begin:end], strict=True)) for begin, end in itertools.pairwise(first)]
    offsets = instance.stage_offsets.tolist()
    return [stages[begin:end] for begin, end in itertools.pairwise(offsets)]


def _misplaced(instance: JobsInstance, job: int, stages: Placement) -> Iterator[JobsViolation]:
    """Find unknown servers, kinds that are not allowed, and wrong numbers of replicas."""
    base = int(instance.stage_offsets[job])
    for stage, placed in enumerate(stages):
        for server, count in placed.items():
            if not 0 <= server < instance.num_servers:
                yield UnknownServer(job=job, stage=stage, server=server, num_servers=instance.num_servers)
                continue
            if count < 1:
                yield BadReplicaCount(job=job, stage=stage, server=server, replicas=count)
            kind = int(instance.server_kind[server])
            if instance.time_of[base + stage, kind] < 0:
                yield KindNotAllowed(job=job, stage=stage, server=server, kind=instance.kinds[kind])
        expected, total = int(instance.replicas[base + stage]), sum(placed.values())
        if total != expected:
            yield WrongReplicas(job=job, stage=stage, expected=expected, placed=total)


def _early_starts(instance: JobsInstance, schedule: JobsSchedule) -> Iterator[JobsViolation]:
    """Find jobs that start before they arrive."""
    for job, (start, release) in enumerate(zip(schedule.start.tolist(), instance.release.tolist(), strict=True)):
        if start < release:
            yield StartBeforeRelease(job=job, ticks=release - start)


def _exceeded(instance: JobsInstance, schedule: JobsSchedule, placements: list[Placement]) -> Iterator[JobsViolation]:
    """Sweep over the starts and ends on every server and find stretches of time with too many GPUs in use."""
    changes: list[list[tuple[int, int, int]]] = [[] for _ in range(instance.num_servers)]
    for job, (start, stages) in enumerate(zip(schedule.start.tolist(), placements, strict=True)):
        end = start + math.ceil(int(instance.iterations[job]) * _alpha(instance, job, stages))
        held: dict[int, int] = {}
        for placed in stages:
            for server, count in placed.items():
                held[server] = held.get(server, 0) + count
        for server, count in held.items():
            changes[server] += [(start, count, job), (end, -count, job)]
    for server, events in enumerate(changes):
        yield from _overfull(server, int(instance.num_gpus_of[server]), sorted(events))


def _overfull(server: int, capacity: int, events: list[tuple[int, int, int]]) -> Iterator[JobsViolation]:
    """Sweep over one server: at equal times ends come before starts, as their change is negative."""
    in_use, running = 0, set[int]()
    begin, peak, involved = 0, 0, set[int]()
    for tick, change, job in events:
        was_over = in_use > capacity
        in_use += change
        if change > 0:
            running.add(job)
        else:
            running.discard(job)
        if in_use > capacity:
            if not was_over:
                begin, peak, involved = tick, 0, set()
            peak = max(peak, in_use)
            involved |= running
        elif was_over:
            yield CapacityExceeded(
                server=server, begin=begin, end=tick, gpus=peak, capacity=capacity, jobs=tuple(sorted(involved))
            )


def _alpha(instance: JobsInstance, job: int, stages: Placement) -> Fraction:
    """Return the time of one iteration, term by term as the formula stands."""
    base = int(instance.stage_offsets[job])
    num_stages = len(stages)
    slowest = max(
        int(instance.time_of[base + stage, instance.server_kind[server]])
        for stage, placed in enumerate(stages)
        for server in placed
    )
    comp = (int(instance.micro_batches[job]) + num_stages - 1) * slowest
    comm = Fraction(0)
    for server in {server for placed in stages for server in placed}:
        leaving = Fraction(0)
        share = [
            Fraction(placed.get(server, 0), int(instance.replicas[base + stage])) for stage, placed in enumerate(stages)
        ]
        for stage in range(num_stages - 1):
            here, there = share[stage], share[stage + 1]
            activations = int(instance.activation_bytes[base + stage])
            leaving += activations * (here * (1 - there) + there * (1 - here))
        for stage in range(num_stages):
            if 0 < share[stage] < 1:
                replicas = int(instance.replicas[base + stage])
                leaving += Fraction(2 * (replicas - 1), replicas) * int(instance.parameter_bytes[base + stage])
        bandwidth = Fraction(int(instance.nic_numerator[server]), int(instance.nic_denominator[server]))
        comm = max(comm, leaving / bandwidth)
    return comp + comm
