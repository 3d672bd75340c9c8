"""Everything that can be wrong with a schedule of a DAG instance, one type each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongLength:
    """The schedule has another number of tasks than the instance."""

    expected: int
    scheduled: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"schedule: expected {self.expected} tasks, got {self.scheduled}."


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownGpu:
    """A task sits on a GPU that is not in the instance."""

    task: int
    gpu: int
    num_gpus: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"gpu[{self.task}]: expected a GPU in 0..{self.num_gpus - 1}, got {self.gpu}."


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAllowed:
    """A task sits on a GPU that may not run it."""

    task: int
    gpu: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"gpu[{self.task}]: expected a GPU that may run task {self.task}, got {self.gpu}."


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyStart:
    """A task starts before the release of its job."""

    task: int
    job: int
    ticks: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"start[{self.task}]: {self.ticks} ticks before the release of job {self.job}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Two tasks run on one GPU at the same time."""

    gpu: int
    tasks: tuple[int, int]
    ticks: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"tasks {self.tasks[0]} and {self.tasks[1]}: overlap by {self.ticks} ticks on GPU {self.gpu}."


@dataclass(frozen=True, slots=True, kw_only=True)
class LateTransfer:
    """A task starts before the data of a predecessor has arrived."""

    edge: int
    tail: int
    head: int
    ticks: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"edges[{self.edge}]: task {self.head} starts {self.ticks} ticks before the data of task {self.tail}."


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOverflow:
    """The tasks of a GPU need more memory than it has."""

    gpu: int
    bytes: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"gpus[{self.gpu}]: its tasks need {self.bytes} bytes more than it has."


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongTransferLength:
    """The schedule has starts of transfers, but another number of them than the instance has edges."""

    expected: int
    scheduled: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"transfer_start: expected {self.expected} entries, one per edge, got {self.scheduled}."


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingTransferStart:
    """A contended transfer has no start."""

    edge: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"transfer_start[{self.edge}]: expected the start of a transfer between servers, got none."


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyTransfer:
    """A contended transfer starts before the task whose data it carries has finished."""

    edge: int
    tail: int
    ticks: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"transfer_start[{self.edge}]: {self.ticks} ticks before task {self.tail} finishes."


@dataclass(frozen=True, slots=True, kw_only=True)
class LateArrival:
    """A contended transfer ends after the task that needs its data has started."""

    edge: int
    head: int
    ticks: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"transfer_start[{self.edge}]: ends {self.ticks} ticks after task {self.head} starts."


@dataclass(frozen=True, slots=True, kw_only=True)
class NicOverlap:
    """Two transfers occupy one side of a server's network interface at the same time."""

    server: str
    side: Literal["outgoing", "incoming"]
    edges: tuple[int, int]
    ticks: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return (
            f"edges {self.edges[0]} and {self.edges[1]}: transfers overlap by {self.ticks} ticks on the {self.side} "
            f"side of server {self.server!r}."
        )


DagViolation = (
    WrongLength
    | UnknownGpu
    | NotAllowed
    | EarlyStart
    | Overlap
    | LateTransfer
    | MemoryOverflow
    | WrongTransferLength
    | MissingTransferStart
    | EarlyTransfer
    | LateArrival
    | NicOverlap
)
