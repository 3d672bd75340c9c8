"""Which GPUs of a server a job is drawn on: any will do where those of one server are alike."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.jobs.jobs_objective import job_durations

if TYPE_CHECKING:
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_schedule import JobsSchedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Neighbouring lanes of a server that a job holds, from its start for some ticks.

    Parameters
    ----------
    server, job
        Who holds what.
    first_lane, num_lanes
        Lanes of the server from 0 on, as many per GPU as jobs may share one.
    start, ticks
        When, in ticks.
    """

    server: int
    job: int
    first_lane: int
    num_lanes: int
    start: int
    ticks: int


def server_lanes(instance: JobsInstance, schedule: JobsSchedule) -> list[Bar]:
    """Give every job lanes on its servers, always the lowest ones that are free, in order of start.

    Where two jobs may share a GPU, a GPU has two lanes, and jobs have lanes of the GPUs that the schedule names.

    Parameters
    ----------
    instance
        What is scheduled.
    schedule
        A schedule of it that verifies.

    Returns
    -------
    list of Bar
        No two overlap; those of a job on a server have as many lanes as it has replicas there.
    """
    share = instance.share
    named = [schedule.gpus_of(instance, job) if share > 1 else [] for job in range(instance.num_jobs)]
    durations, starts = job_durations(instance, schedule).tolist(), schedule.start.tolist()
    held: list[dict[int, int]] = [{} for _ in range(instance.num_servers)]
    for job in range(instance.num_jobs):
        rows = instance.stages_of(job)
        entries = slice(schedule.entry_offsets[rows.start], schedule.entry_offsets[rows.stop])
        pairs = zip(schedule.entry_server[entries].tolist(), schedule.entry_count[entries].tolist(), strict=True)
        for server, count in pairs:
            held[server][job] = held[server].get(job, 0) + count
    bars: list[Bar] = []
    for server, count_of in enumerate(held):
        free = list(range(int(instance.num_gpus_of[server]) * share))
        running: list[tuple[int, list[int]]] = []
        for job in sorted(count_of, key=lambda job: (starts[job], job)):
            while running and running[0][0] <= starts[job]:
                for lane in heapq.heappop(running)[1]:
                    heapq.heappush(free, lane)
            if share == 1:
                lanes = [heapq.heappop(free) for _ in range(count_of[job])]
            else:
                own = {gpu for where, gpu in named[job] if where == server}
                lanes = sorted(
                    {lane // share: lane for lane in sorted(free, reverse=True) if lane // share in own}.values()
                )
                free = sorted(set(free) - set(lanes))  # sorted lists are heaps
            heapq.heappush(running, (starts[job] + durations[job], lanes))
            for first, number in _neighbours(lanes):
                bars.append(
                    Bar(
                        server=server,
                        job=job,
                        first_lane=first,
                        num_lanes=number,
                        start=starts[job],
                        ticks=durations[job],
                    )
                )
    return bars


def _neighbours(lanes: list[int]) -> list[tuple[int, int]]:
    """Group ascending lanes into (first, number of neighbours)."""
    groups: list[tuple[int, int]] = []
    for lane in lanes:
        if groups and sum(groups[-1]) == lane:
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((lane, 1))
    return groups
