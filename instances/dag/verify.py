"""The verifier of schedules of DAG instances; it shares no code with any method and imports no solver."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from instances.dag.contention import Contention
from instances.dag.schedule import NO_TRANSFER
from instances.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongLength(Violation):
    """The schedule has another number of tasks than the instance."""

    line = "schedule: expected {0.expected} tasks, got {0.scheduled}."
    expected: int
    scheduled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownGpu(Violation):
    """A task sits on a GPU that is not in the instance."""

    task: int
    gpu: int
    num_gpus: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"gpu[{self.task}]: expected a GPU in 0..{self.num_gpus - 1}, got {self.gpu}."


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAllowed(Violation):
    """A task sits on a GPU that may not run it."""

    line = "gpu[{0.task}]: expected a GPU that may run task {0.task}, got {0.gpu}."
    task: int
    gpu: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyStart(Violation):
    """A task starts before the release of its job."""

    line = "start[{0.task}]: {0.ticks} ticks before the release of job {0.job}."
    task: int
    job: int
    ticks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap(Violation):
    """Two tasks run on one GPU at the same time."""

    line = "tasks {0.tasks[0]} and {0.tasks[1]}: overlap by {0.ticks} ticks on GPU {0.gpu}."
    gpu: int
    tasks: tuple[int, int]
    ticks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LateTransfer(Violation):
    """A task starts before the data of a predecessor has arrived."""

    line = "edges[{0.edge}]: task {0.head} starts {0.ticks} ticks before the data of task {0.tail}."
    edge: int
    tail: int
    head: int
    ticks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOverflow(Violation):
    """The tasks of a GPU need more memory than it has."""

    line = "gpus[{0.gpu}]: its tasks need {0.bytes} bytes more than it has."
    gpu: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferOverflow(Violation):
    """The tasks of a GPU and its live buffers need more memory than it has; told at the worst tick of each such time.

    `start` and `end` bound the time, in ticks.
    """

    line = (
        "gpus[{0.gpu}]: its tasks and live buffers need {0.bytes} bytes more than it has at tick {0.tick} (ticks "
        "{0.start} to {0.end}); live are buffers {0.buffers_text}."
    )
    gpu: int
    tick: int
    bytes: int
    buffers: tuple[int, ...]
    start: int
    end: int

    @property
    def buffers_text(self) -> str:
        """The numbers of the live buffers, at most eight of them."""
        shown = ", ".join(map(str, self.buffers[:8]))
        return shown + (f" and {len(self.buffers) - 8} more" if len(self.buffers) > 8 else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitGroup(Violation):
    """A task sits on another GPU than the first task of its group."""

    line = "gpu[{0.task}]: expected GPU {0.expected}, that of task {0.first} of group {0.group}, got {0.gpu}."
    task: int
    first: int
    group: int
    gpu: int
    expected: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongTransferLength(Violation):
    """The schedule has starts of transfers, but another number of them than the instance has edges."""

    line = "transfer_start: expected {0.expected} entries, one per edge, got {0.scheduled}."
    expected: int
    scheduled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingTransferStart(Violation):
    """A contended transfer has no start."""

    line = "transfer_start[{0.edge}]: expected the start of a transfer between servers, got none."
    edge: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyTransfer(Violation):
    """A contended transfer starts before the task whose data it carries has finished."""

    line = "transfer_start[{0.edge}]: {0.ticks} ticks before task {0.tail} finishes."
    edge: int
    tail: int
    ticks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LateArrival(Violation):
    """A contended transfer ends after the task that needs its data has started."""

    line = "transfer_start[{0.edge}]: ends {0.ticks} ticks after task {0.head} starts."
    edge: int
    head: int
    ticks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NicOverlap(Violation):
    """Two transfers occupy one side of a server's network interface at the same time."""

    line = (
        "edges {0.edges[0]} and {0.edges[1]}: transfers overlap by {0.ticks} ticks on the {0.side} side of "
        "server {0.server!r}."
    )
    server: str
    side: Literal["outgoing", "incoming"]
    edges: tuple[int, int]
    ticks: int


DagViolation = (
    WrongLength
    | UnknownGpu
    | NotAllowed
    | EarlyStart
    | Overlap
    | LateTransfer
    | MemoryOverflow
    | BufferOverflow
    | SplitGroup
    | WrongTransferLength
    | MissingTransferStart
    | EarlyTransfer
    | LateArrival
    | NicOverlap
)


def verify_dag_schedule(
    instance: DagInstance, schedule: DagSchedule, contention: Contention | str = Contention.NONE
) -> list[DagViolation]:
    """List every violation of the DAG problem's constraints; an empty list means the schedule is right.

    Parameters
    ----------
    contention
        A member of `Contention` or its name; starts of transfers are checked unless it is `Contention.NONE`.

    Returns
    -------
    list[DagViolation]
        Which task, GPU or edge, and by how much. If the number of tasks is wrong, or a task sits on a GPU that is
        unknown or may not run it, times are undefined, and only those violations are listed. Contention adds
        constraints and removes none: a task that starts too early for its data can be listed twice.
    """
    has_contention = Contention(contention) is Contention.NIC
    if len(schedule.gpu) != instance.num_tasks:
        return [WrongLength(expected=instance.num_tasks, scheduled=len(schedule.gpu))]
    misplaced = [*_unknown_gpus(instance, schedule)]
    misplaced += [] if misplaced else [*_not_allowed(instance, schedule)]
    if misplaced:
        return misplaced
    return [
        *_early_starts(instance, schedule),
        *_overlaps(instance, schedule),
        *_late_transfers(instance, schedule),
        *_memory_overflows(instance, schedule),
        *_buffer_overflows(instance, schedule),
        *_split_groups(instance, schedule),
        *(_contention_violations(instance, schedule) if has_contention else ()),
    ]


def _unknown_gpus(instance: DagInstance, schedule: DagSchedule) -> Iterator[DagViolation]:
    """Find tasks on GPUs that are not in the instance."""
    for task in np.flatnonzero((schedule.gpu < 0) | (schedule.gpu >= instance.num_gpus)):
        yield UnknownGpu(task=int(task), gpu=int(schedule.gpu[task]), num_gpus=instance.num_gpus)


def _not_allowed(instance: DagInstance, schedule: DagSchedule) -> Iterator[DagViolation]:
    """Find tasks on GPUs that may not run them."""
    for task, gpu in enumerate(schedule.gpu.tolist()):
        if instance.durations[task, gpu] < 0:
            yield NotAllowed(task=task, gpu=gpu)


def _early_starts(instance: DagInstance, schedule: DagSchedule) -> Iterator[DagViolation]:
    """Find tasks that start before the release of their job."""
    for task, start in enumerate(schedule.start.tolist()):
        job = int(instance.job_of_task[task])
        early = int(instance.release[job]) - start
        if early > 0:
            yield EarlyStart(task=task, job=job, ticks=early)


def _overlaps(instance: DagInstance, schedule: DagSchedule) -> Iterator[DagViolation]:
    """Find tasks that overlap on one GPU; a task of duration 0 occupies nothing."""
    gpus, starts = schedule.gpu.tolist(), schedule.start.tolist()
    ends = [start + int(instance.durations[task, gpus[task]]) for task, start in enumerate(starts)]
    running: dict[int, list[int]] = {gpu: [] for gpu in range(instance.num_gpus)}
    for task in sorted(range(instance.num_tasks), key=lambda task: (starts[task], task)):
        if ends[task] == starts[task]:
            continue
        gpu = gpus[task]
        running[gpu] = [other for other in running[gpu] if ends[other] > starts[task]]
        for other in running[gpu]:
            ticks = min(ends[other], ends[task]) - starts[task]
            yield Overlap(gpu=gpu, tasks=(min(other, task), max(other, task)), ticks=ticks)
        running[gpu].append(task)


def _late_transfers(instance: DagInstance, schedule: DagSchedule) -> Iterator[DagViolation]:
    """Find tasks that start before a predecessor has finished and its data has arrived."""
    gpus, starts = schedule.gpu.tolist(), schedule.start.tolist()
    for edge, (tail, head) in enumerate(instance.edges.tolist()):
        source, target = gpus[tail], gpus[head]
        arrival = starts[tail] + int(instance.durations[tail, source]) + _delay(instance, edge, source, target)
        if arrival > starts[head]:
            yield LateTransfer(edge=edge, tail=tail, head=head, ticks=arrival - starts[head])


def _delay(instance: DagInstance, edge: int, source: int, target: int) -> int:
    """Return the transfer delay of an edge between two GPUs."""
    data = int(instance.edge_bytes[edge])
    if source == target or data == 0:
        return 0
    return int(instance.latency[source, target]) + math.ceil(data / float(instance.bytes_per_tick[source, target]))


def _contention_violations(instance: DagInstance, schedule: DagSchedule) -> Iterator[DagViolation]:
    """Find what is wrong with the transfers between servers, which occupy one side of a network interface each."""
    if schedule.transfer_start is not None and len(schedule.transfer_start) != instance.num_edges:
        yield WrongTransferLength(expected=instance.num_edges, scheduled=len(schedule.transfer_start))
        return
    gpus, starts, server = schedule.gpu.tolist(), schedule.start.tolist(), instance.gpu_servers
    given = [NO_TRANSFER] * instance.num_edges if schedule.transfer_start is None else schedule.transfer_start.tolist()
    occupied: dict[tuple[str, Literal["outgoing", "incoming"]], list[tuple[int, int, int]]] = {}
    for edge, (tail, head) in enumerate(instance.edges.tolist()):
        source, target = gpus[tail], gpus[head]
        delay = _delay(instance, edge, source, target)
        if server[source] == server[target] or delay == 0:
            continue
        begin = given[edge]
        if begin == NO_TRANSFER:
            yield MissingTransferStart(edge=edge)
            continue
        early = starts[tail] + int(instance.durations[tail, source]) - begin
        if early > 0:
            yield EarlyTransfer(edge=edge, tail=tail, ticks=early)
        late = begin + delay - starts[head]
        if late > 0:
            yield LateArrival(edge=edge, head=head, ticks=late)
        occupied.setdefault((server[source], "outgoing"), []).append((begin, begin + delay, edge))
        occupied.setdefault((server[target], "incoming"), []).append((begin, begin + delay, edge))
    for (name, side), transfers in occupied.items():
        running: list[tuple[int, int]] = []
        for begin, end, edge in sorted(transfers):
            running = [(other_end, other) for other_end, other in running if other_end > begin]
            for other_end, other in running:
                pair = (min(edge, other), max(edge, other))
                yield NicOverlap(server=name, side=side, edges=pair, ticks=min(end, other_end) - begin)
            running.append((end, edge))


def _memory_overflows(instance: DagInstance, schedule: DagSchedule) -> Iterator[DagViolation]:
    """Find GPUs whose tasks do not fit into their memory."""
    used = [0] * instance.num_gpus
    for task, gpu in enumerate(schedule.gpu.tolist()):
        used[gpu] += int(instance.task_memory[task])
    for gpu, memory in enumerate(instance.gpu_memory.tolist()):
        if memory >= 0 and used[gpu] > memory:
            yield MemoryOverflow(gpu=gpu, bytes=used[gpu] - memory)


def _buffer_overflows(instance: DagInstance, schedule: DagSchedule) -> Iterator[DagViolation]:
    """Find when tasks and live buffers do not fit; where tasks alone do not, buffers are held against no memory.

    A buffer is live from the start of its task up to, not including, the last finish of the tasks that release it.
    """
    gpus, starts = schedule.gpu.tolist(), schedule.start.tolist()
    ends = [start + int(instance.durations[task, gpus[task]]) for task, start in enumerate(starts)]
    last_release: dict[int, int] = {}
    for number, task in instance.buffer_releases.tolist():
        last_release[number] = max(last_release.get(number, ends[task]), ends[task])
    owners, sizes = instance.buffer_task.tolist(), instance.buffer_bytes.tolist()
    for gpu, memory in enumerate(instance.gpu_memory.tolist()):
        if memory < 0:
            continue
        mine = [number for number, owner in enumerate(owners) if gpus[owner] == gpu]
        held = sum(int(instance.task_memory[task]) for task, place in enumerate(gpus) if place == gpu)
        free = max(memory - held, 0)
        changes: dict[int, int] = {}
        for number in mine:
            begin, end = starts[owners[number]], last_release[number]
            if begin < end:
                changes[begin] = changes.get(begin, 0) + sizes[number]
                changes[end] = changes.get(end, 0) - sizes[number]
        level, worst, since = 0, (0, 0), None
        for tick in sorted(changes):
            level += changes[tick]
            if level > free:
                since = tick if since is None else since
                worst = max(worst, (level - free, -tick))
            elif since is not None:
                at = -worst[1]
                live = tuple(n for n in mine if starts[owners[n]] <= at < last_release[n])
                yield BufferOverflow(gpu=gpu, tick=at, bytes=worst[0], buffers=live, start=since, end=tick)
                worst, since = (0, 0), None


def _split_groups(instance: DagInstance, schedule: DagSchedule) -> Iterator[DagViolation]:
    """Find tasks that are not on the GPU of the first task of their group."""
    first_of: dict[int, int] = {}
    for task, group in enumerate(instance.group_of_task.tolist()):
        if group >= 0:
            first = first_of.setdefault(group, task)
            gpu, expected = int(schedule.gpu[task]), int(schedule.gpu[first])
            if gpu != expected:
                yield SplitGroup(task=task, first=first, group=group, gpu=gpu, expected=expected)
