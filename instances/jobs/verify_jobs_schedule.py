"""The one judge of schedules of jobs: it shares no code with any method and imports no solver."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from instances.jobs.jobs_violations import (
    BadReplicaCount,
    CapacityExceeded,
    GpusNotNamed,
    JobsViolation,
    KindNotAllowed,
    OtherInstance,
    StartBeforeRelease,
    UnknownServer,
    WrongNumberOfJobs,
    WrongNumberOfStages,
    WrongReplicas,
)
from instances.jobs.verify_gpus import misnamed, overbooked
from instances.jobs.verify_iteration import verified_parts
from instances.jobs.verify_replay import replayed_ends

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_schedule import JobsSchedule
    from instances.jobs.verify_gpus import Gpus
    from instances.jobs.verify_iteration import Placement


def verify_jobs_schedule(instance: JobsInstance, schedule: JobsSchedule) -> list[JobsViolation]:
    """List every violation of the jobs problem's constraints; an empty list means the schedule is right.

    Durations are computed here, from the formula and by code of its own: `iteration_time` is not called. A job holds
    its GPUs from its start, without interruption, for ceil(n * alpha(x)) ticks; under interference until a replay of
    all starts and completions, by code of its own too, says that it completes.

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
        number of jobs or stages, or names no GPUs where two jobs may share one, only that is listed. Where a job is
        not placed as it asks for, its duration means nothing, and capacities are not checked.
    """
    if schedule.instance_sha256 != instance.sha256:
        return [OtherInstance(expected=instance.sha256, found=schedule.instance_sha256)]
    if len(schedule.start) != instance.num_jobs:
        return [WrongNumberOfJobs(expected=instance.num_jobs, scheduled=len(schedule.start))]
    if len(schedule.entry_offsets) - 1 != len(instance.replicas):
        return [WrongNumberOfStages(expected=len(instance.replicas), scheduled=len(schedule.entry_offsets) - 1)]
    if instance.share > 1 and schedule.gpu is None:
        return [GpusNotNamed(share=instance.share)]
    placements = _placements(instance, schedule)
    misplaced = [wrong for job, stages in enumerate(placements) for wrong in _misplaced(instance, job, stages)]
    early = [*_early_starts(instance, schedule)]
    if misplaced:
        return misplaced + early
    gpus = _gpus(instance, schedule)
    if wrong := [violation for job, own in enumerate(gpus) for violation in misnamed(instance, job, own)]:
        return wrong + early
    start = schedule.start.tolist()
    ends = _ends(instance, start, placements, gpus)
    found: Iterator[JobsViolation] = iter(())
    if instance.share == 1:
        found = _exceeded(instance, start, ends, placements)
    return [*early, *found, *overbooked(instance, start, ends, gpus)]


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


def _gpus(instance: JobsInstance, schedule: JobsSchedule) -> list[Gpus]:
    """Read the GPUs of every job out of the rows; empty where they are not named."""
    found: list[Gpus] = [{} for _ in range(instance.num_jobs)]
    if schedule.gpu is None:
        return found
    names = iter(schedule.gpu.tolist())
    stage_ends, entry = instance.stage_offsets.tolist(), 0
    servers, counts = schedule.entry_server.tolist(), schedule.entry_count.tolist()
    for job in range(instance.num_jobs):
        while entry < int(schedule.entry_offsets[stage_ends[job + 1]]):
            found[job].setdefault(servers[entry], []).extend(itertools.islice(names, counts[entry]))
            entry += 1
    return found


def _ends(
    instance: JobsInstance, start: Sequence[int], placements: Sequence[Placement], gpus: Sequence[Gpus]
) -> list[int]:
    """Return when every job completes."""
    if instance.interference is not None:
        return replayed_ends(instance, instance.interference, start, placements, gpus)
    ends = []
    for job, stages in enumerate(placements):
        comp, comm = verified_parts(instance, job, stages)
        ends.append(start[job] + math.ceil(int(instance.iterations[job]) * (comp + comm)))
    return ends


def _exceeded(
    instance: JobsInstance, starts: Sequence[int], ends: Sequence[int], placements: Sequence[Placement]
) -> Iterator[JobsViolation]:
    """Sweep over the starts and ends on every server and find stretches of time with too many GPUs in use."""
    changes: list[list[tuple[int, int, int]]] = [[] for _ in range(instance.num_servers)]
    for job, (start, end, stages) in enumerate(zip(starts, ends, placements, strict=True)):
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
