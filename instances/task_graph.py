"""Tasks and edges before anybody decides on GPUs: what generators and readers make."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TaskGraph:
    """A workload in physical units; `dag_instance_from_graph` puts it on a cluster.

    Parameters
    ----------
    name
        Free text.
    task_names
        One per task.
    flops, moved_bytes
        Work of each task: floating-point operations, and bytes moved between GPU and its memory.
    memory_bytes
        Memory that each task occupies for the whole schedule.
    edges
        ``(from, to, bytes)`` per edge.
    job_of_task
        Job of each task; default one job.
    job_names, release_seconds, weight
        One entry per job.
    """

    name: str
    task_names: Sequence[str]
    flops: Sequence[float]
    moved_bytes: Sequence[float]
    memory_bytes: Sequence[int]
    edges: Sequence[tuple[int, int, int]]
    job_of_task: Sequence[int] = ()
    job_names: Sequence[str] = ("j0",)
    release_seconds: Sequence[float] = (0.0,)
    weight: Sequence[int] = field(default=(1,))
