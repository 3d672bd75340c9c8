"""Instances beside a store and schedules in it, of either problem, as JSON texts."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from instances.dag.json import dag_instance_from_json, write_dag_instance
from instances.dag.schedule import DagSchedule
from instances.jobs.instance import JobsInstance
from instances.jobs.json import jobs_instance_from_json, write_jobs_instance
from instances.jobs.schedule import JobsSchedule
from instances.text_file import read_text

if TYPE_CHECKING:
    from os import PathLike

    from instances.dag.instance import DagInstance


_JOBS_HEAD = re.compile(r'\s*\{\s*"format"\s*:\s*"optgap/jobs"')
"""How every jobs file of ours begins; anything else is read, or refused with a reason, as a DAG instance."""


def read_stored_instance(path: str | PathLike[str], sha256: str | None = None) -> DagInstance | JobsInstance:
    """Read an instance of either problem from a JSON file.

    Parameters
    ----------
    sha256
        Content hash that the instance must have; None for any.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not an instance, or one with another content.
    """
    text = read_text(path)
    instance = jobs_instance_from_json(text) if _JOBS_HEAD.match(text) else dag_instance_from_json(text)
    if sha256 is not None and instance.sha256 != sha256:
        raise ValueError(f"sha256: expected the content {sha256[:16]}..., got {instance.sha256[:16]}...")
    return instance


def write_stored_instance(instance: DagInstance | JobsInstance, path: str | PathLike[str]) -> None:
    """Write an instance of either problem to a JSON file; reading it back gives the same content hash."""
    if isinstance(instance, JobsInstance):
        write_jobs_instance(instance, path)
    else:
        write_dag_instance(instance, path)


_DAG_FIELDS = ("gpu", "start")
_JOBS_FIELDS = ("start", "entry_offsets", "entry_server", "entry_count", "gpu")


def stored_schedule_text(schedule: DagSchedule | JobsSchedule | None) -> str | None:
    """Return a schedule as JSON text of its arrays, those that it has; None without a schedule."""
    if schedule is None:
        return None
    names = _JOBS_FIELDS if isinstance(schedule, JobsSchedule) else _DAG_FIELDS
    arrays = {name: getattr(schedule, name) for name in names}
    content = {name: array.tolist() for name, array in arrays.items() if array is not None}
    return json.dumps(content, separators=(",", ":"))


def stored_schedule(instance: DagInstance | JobsInstance, text: str | None) -> DagSchedule | JobsSchedule | None:
    """Return the schedule of an instance from its text; it is not verified here."""
    if text is None:
        return None
    content = json.loads(text)
    if isinstance(instance, JobsInstance):
        return JobsSchedule(**content, instance_name=instance.name, instance_sha256=instance.sha256)
    return DagSchedule(**content)
