"""Schedules of either problem as the compact JSON text that a store keeps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from instances.dag_schedule import DagSchedule
from instances.jobs.jobs_instance import JobsInstance
from instances.jobs.jobs_schedule import JobsSchedule

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance

_DAG_FIELDS = ("gpu", "start")
_JOBS_FIELDS = ("start", "entry_offsets", "entry_server", "entry_count", "gpu")


def schedule_text(schedule: DagSchedule | JobsSchedule | None) -> str | None:
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
