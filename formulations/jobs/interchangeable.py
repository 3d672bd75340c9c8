"""What can be exchanged in a whole schedule without changing its objective: like servers, and like jobs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from formulations.jobs.pattern_table import job_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formulations.jobs.pattern_table import PatternSchedule, PatternTable
    from instances.jobs.instance import JobsInstance


def like_servers(instance: JobsInstance) -> list[list[int]]:
    """Return classes of two or more servers with equal kind, number of GPUs, network interface and rack.

    Exchanging two of them in the placements of all jobs at once keeps every duration and capacity. Exchanging them for
    one job alone does not, because it changes which jobs run there together.
    """
    classes: dict[tuple[int, ...], list[int]] = {}
    columns = [instance.server_kind, instance.num_gpus_of, instance.nic_numerator, instance.nic_denominator]
    if instance.racks is not None:
        columns.append(instance.racks.rack_of_server)
    for server in range(instance.num_servers):
        classes.setdefault(tuple(int(column[server]) for column in columns), []).append(server)
    return [own for own in classes.values() if len(own) > 1]


def like_jobs(instance: JobsInstance, weights: Sequence[int]) -> list[list[int]]:
    """Return classes of two or more jobs that differ in nothing but name, user, group and tag, in ascending order."""
    classes: dict[tuple[object, ...], list[int]] = {}
    for job in range(instance.num_jobs):
        key = (int(instance.release[job]), int(weights[job]), job_shape(instance, job))
        classes.setdefault(key, []).append(job)
    return [own for own in classes.values() if len(own) > 1]


def jobs_normal_form(
    instance: JobsInstance, table: PatternTable, weights: Sequence[int], schedule: PatternSchedule
) -> PatternSchedule:
    """Return the equivalent schedule whose like jobs start in order of number and whose like servers are ordered.

    Of two like servers the first one has the larger usage at the first job, by number, where they differ. Jobs are
    exchanged first, with all they have, then servers, which changes no start; so every schedule has a normal form. The
    table is exact.
    """
    start, pattern = list(schedule.start), list(schedule.pattern)
    for jobs in like_jobs(instance, weights):
        sorted_pairs = sorted((schedule.start[job], schedule.pattern[job]) for job in jobs)
        for job, (begin, own) in zip(jobs, sorted_pairs, strict=True):
            start[job], pattern[job] = begin, own
    usages = [table.patterns[job][own].usage.copy() for job, own in enumerate(pattern)]
    for servers in like_servers(instance):
        columns = sorted(([int(usage[server]) for usage in usages] for server in servers), reverse=True)
        for server, column in zip(servers, columns, strict=True):
            for usage, count in zip(usages, column, strict=True):
                usage[server] = count
    for job, usage in enumerate(usages):
        wanted = usage.tolist()
        pattern[job] = next(n for n, own in enumerate(table.patterns[job]) if own.usage.tolist() == wanted)
    return replace(schedule, start=tuple(start), pattern=tuple(pattern))
