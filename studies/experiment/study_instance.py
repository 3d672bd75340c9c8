"""An instance of a study, with the coordinates of its place in the design."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.jobs.jobs_instance import JobsInstance

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance

NOT_SAID = "-"
"""Text of a coordinate that is not known, or that the problem does not have."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StudyInstance:
    """An instance and where it comes from.

    Parameters
    ----------
    instance
        What is scheduled.
    origin
        What it was made from, as JSON text: the same origin is never made twice in a study.
    family
        Of the generator, "file" for files.
    cluster
        Text of the cluster, "-" for files.
    ccr
        Communication-to-computation ratio that was asked for, None where none was.
    heterogeneity
        "consistent" or "inconsistent", "-" for files and for jobs.
    load
        Of a jobs instance: as asked for, of a file as it is; None where all jobs arrive at once, and for DAGs.
    """

    instance: DagInstance | JobsInstance
    origin: str
    family: str
    cluster: str = NOT_SAID
    ccr: float | None = None
    heterogeneity: str = NOT_SAID
    load: float | None = None

    @property
    def num_tasks(self) -> int | None:
        """Number of tasks, None for jobs: their stages are no tasks."""
        return None if isinstance(self.instance, JobsInstance) else self.instance.num_tasks

    @property
    def num_edges(self) -> int | None:
        """Number of edges, None for jobs."""
        return None if isinstance(self.instance, JobsInstance) else self.instance.num_edges

    @property
    def num_pairs(self) -> int:
        """Pairs of task (or job) and GPU: what run times grow with."""
        return (self.instance.num_jobs if self.num_tasks is None else self.num_tasks) * self.instance.num_gpus

    @property
    def file_name(self) -> str:
        """Name of the file that holds it in the folder of a study: unique, and safe in any file system."""
        stem = re.sub(r"[^A-Za-z0-9.-]+", "-", self.instance.name).strip("-.")[:80]
        return f"{stem or 'instance'}-{self.instance.sha256[:12]}.json"
