"""What goes on while a schedule runs: tasks and transfers on tracks, memory in use, and what each task waited for."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

import numpy as np

from instances.dag.instance import NO_LIMIT, DagInstance
from instances.dag.objective import finish_times
from instances.dag.schedule import NO_TRANSFER
from instances.jobs.gantt import server_lanes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from instances.dag.schedule import DagSchedule
    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule
    from instances.readers.optgap_json import Instance, Schedule


@dataclass(frozen=True, slots=True)
class Track:
    """A line of the chart on which nothing overlaps: a GPU, or one of the transfers that a link carries at a time.

    Parameters
    ----------
    server
        The server to which it belongs; a link belongs to that of its source.
    kind
        Kind of the GPU; of the source of a link.
    """

    name: str
    server: str
    kind: str
    is_link: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A task or a transfer on a track, from its start for some ticks.

    Parameters
    ----------
    item
        Task or job; for a transfer the edge.
    group
        Job of the task; for a transfer that of the task that sends.
    size
        Bytes that a transfer carries; None for tasks.
    """

    track: int
    name: str
    item: int
    group: int
    start: int
    ticks: int
    size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUse:
    """Bytes in use on a track from each tick of `steps` to the next, and its capacity (None: no limit)."""

    track: int
    steps: tuple[tuple[int, int], ...]
    capacity: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Why a task did not start earlier.

    Parameters
    ----------
    reason
        ``data``: what an edge carries arrived at its start. ``gpu``: the GPU was busy until then. ``release``: its job
        was released then. ``nothing``: it could have started earlier, with the same neighbours.
    other
        The task that it waited for; None for a release and for nothing.
    """

    task: int
    reason: Literal["data", "gpu", "release", "nothing"]
    other: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """Everything that a schedule does, in ticks; what a trace, a table and a page show.

    Parameters
    ----------
    slices
        Tasks by number, then transfers by edge; none of delay 0.
    binding_chain
        Waits from the last finish backwards, for DAGs: each begins with the task that the one before waited for.
    """

    name: str
    tick_seconds: float
    tracks: tuple[Track, ...]
    slices: tuple[Slice, ...]
    memory: tuple[MemoryUse, ...]
    binding_chain: tuple[Wait, ...]
    group_names: tuple[str, ...]
    end: int


def activity(instance: Instance, schedule: Schedule) -> Activity:
    """Return what goes on in a schedule that verifies.

    Transfers start when their task has finished, or where the schedule says so (contention). A link may carry several
    at once; each gets the first track of the link that is free.
    """
    if isinstance(instance, DagInstance):
        return _dag_activity(instance, schedule)  # type: ignore[arg-type]  # a schedule of the instance
    return _jobs_activity(instance, schedule)  # type: ignore[arg-type]  # likewise


def _dag_activity(instance: DagInstance, schedule: DagSchedule) -> Activity:
    """Return what goes on in a schedule of a DAG."""
    finish = finish_times(instance, schedule).tolist()
    gpu, start = schedule.gpu.tolist(), schedule.start.tolist()
    columns = zip(instance.gpu_names, instance.gpu_servers, instance.gpu_kinds, strict=True)
    tracks = [Track(*names) for names in columns]
    slices = [
        Slice(
            track=gpu[task],
            name=name,
            item=task,
            group=int(instance.job_of_task[task]),
            start=start[task],
            ticks=finish[task] - start[task],
        )
        for task, name in enumerate(instance.task_names)
    ]
    lanes: dict[tuple[int, int], list[tuple[int, int]]] = {}
    moved: dict[int, Slice] = {}
    for begin, edge, ticks in sorted(_transfers(instance, schedule, finish)):
        tail, head = instance.edges[edge].tolist()
        if not ticks:
            continue
        link = (gpu[tail], gpu[head])
        free = lanes.setdefault(link, [])
        if free and free[0][0] <= begin:
            track = heapq.heappop(free)[1]
        else:
            track = len(tracks)
            source = tracks[link[0]]
            number = f" ({len(free) + 1})" if free else ""
            tracks.append(Track(f"{source.name} to {tracks[link[1]].name}{number}", source.server, source.kind, True))
        heapq.heappush(free, (begin + ticks, track))
        moved[edge] = Slice(
            track=track,
            name=f"{instance.task_names[tail]} to {instance.task_names[head]}",
            item=edge,
            group=int(instance.job_of_task[tail]),
            start=begin,
            ticks=ticks,
            size=int(instance.edge_bytes[edge]),
        )
    slices += [moved[edge] for edge in sorted(moved)]
    return Activity(
        name=instance.name,
        tick_seconds=instance.tick_seconds,
        tracks=tuple(tracks),
        slices=tuple(slices),
        memory=tuple(_memory(instance, gpu, start, finish)),
        binding_chain=_binding_chain(waits(instance, schedule), finish),
        group_names=instance.job_names,
        end=max(finish, default=0),
    )


def _transfers(instance: DagInstance, schedule: DagSchedule, finish: list[int]) -> Iterable[tuple[int, int, int]]:
    """Yield start, edge and delay of every transfer."""
    for edge, (tail, head) in enumerate(instance.edges.tolist()):
        delay = instance.transfer_delay(edge, schedule.gpu[tail], schedule.gpu[head])
        given = NO_TRANSFER if schedule.transfer_start is None else int(schedule.transfer_start[edge])
        yield (finish[tail] if given == NO_TRANSFER else given), edge, delay


def _memory(instance: DagInstance, gpu: list[int], start: list[int], finish: list[int]) -> Iterable[MemoryUse]:
    """Yield the memory in use on every GPU: that of its tasks throughout, and that of buffers while they are live."""
    changes: list[dict[int, int]] = [{0: 0} for _ in range(instance.num_gpus)]
    for task, size in enumerate(instance.task_memory.tolist()):
        changes[gpu[task]][0] += size
    for buffer in instance.buffers:
        own, end = changes[gpu[buffer.task]], max(finish[task] for task in buffer.released_by)
        own[start[buffer.task]] = own.get(start[buffer.task], 0) + buffer.size
        own[end] = own.get(end, 0) - buffer.size
    for k, own in enumerate(changes):
        ticks = sorted(own)
        limit = int(instance.gpu_memory[k])
        steps = zip(ticks, accumulate(own[tick] for tick in ticks), strict=True)
        yield MemoryUse(track=k, steps=tuple(steps), capacity=None if limit == NO_LIMIT else limit)


def waits(instance: DagInstance, schedule: DagSchedule) -> tuple[Wait, ...]:
    """Return for every task why it did not start earlier; data counts before a busy GPU, and both before a release."""
    finish = finish_times(instance, schedule).tolist()
    gpu, start = schedule.gpu.tolist(), schedule.start.tolist()
    before = {(gpu[task], finish[task]): task for task in range(len(finish)) if finish[task] > start[task]}
    sender: dict[int, int] = {}
    for begin, edge, ticks in _transfers(instance, schedule, finish):
        tail, head = instance.edges[edge].tolist()
        if begin + ticks == start[head]:
            sender.setdefault(head, tail)
    found: list[Wait] = []
    for task, begin in enumerate(start):
        if task in sender:
            found.append(Wait(task=task, reason="data", other=sender[task]))
        elif (gpu[task], begin) in before:
            found.append(Wait(task=task, reason="gpu", other=before[gpu[task], begin]))
        else:
            is_release = begin == int(instance.release[instance.job_of_task[task]])
            found.append(Wait(task=task, reason="release" if is_release else "nothing"))
    return tuple(found)


def _binding_chain(reasons: tuple[Wait, ...], finish: list[int]) -> tuple[Wait, ...]:
    """Return why the last task, the one that it waited for, and so on, did not start earlier."""
    chain: list[Wait] = []
    task = int(np.argmax(finish)) if finish else None
    while task is not None:
        chain.append(reasons[task])
        task = chain[-1].other
    return tuple(chain)


def _jobs_activity(instance: JobsInstance, schedule: JobsSchedule) -> Activity:
    """Return what goes on in a schedule of jobs: every lane of a server is a track."""
    first_track: list[int] = []
    tracks: list[Track] = []
    for server, name in enumerate(instance.server_names):
        first_track.append(len(tracks))
        kind = instance.kinds[int(instance.server_kind[server])]
        share = instance.share
        for lane in range(int(instance.num_gpus_of[server]) * share):
            half = f".{lane % share}" if share > 1 else ""
            tracks.append(Track(f"GPU {lane // share}{half}", name, kind))
    slices = [
        Slice(
            track=first_track[bar.server] + lane,
            name=instance.job_names[bar.job],
            item=bar.job,
            group=bar.job,
            start=bar.start,
            ticks=bar.ticks,
        )
        for bar in server_lanes(instance, schedule)
        for lane in range(bar.first_lane, bar.first_lane + bar.num_lanes)
    ]
    return Activity(
        name=instance.name,
        tick_seconds=instance.tick_seconds,
        tracks=tuple(tracks),
        slices=tuple(sorted(slices, key=lambda each: (each.item, each.track))),
        memory=(),
        binding_chain=(),
        group_names=instance.job_names,
        end=max((each.start + each.ticks for each in slices), default=0),
    )
