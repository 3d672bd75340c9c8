"""An instance of a study, with the coordinates of its place in the design."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance


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
        "consistent" or "inconsistent", "-" for files.
    """

    instance: DagInstance
    origin: str
    family: str
    cluster: str
    ccr: float | None
    heterogeneity: str

    @property
    def file_name(self) -> str:
        """Name of the file that holds it in the folder of a study: unique, and safe in any file system."""
        stem = re.sub(r"[^A-Za-z0-9.-]+", "-", self.instance.name).strip("-.")[:80]
        return f"{stem or 'instance'}-{self.instance.sha256[:12]}.json"
