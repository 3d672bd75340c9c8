"""Instances and schedules as the library stores them: JSON without white space."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from instances.dag_document import dag_instance_document, dag_schedule_document
from instances.dag_instance import DagInstance
from instances.dag_schedule import DagSchedule
from instances.jobs.jobs_document import jobs_instance_document, jobs_schedule_document
from instances.jobs.jobs_instance import JobsInstance
from instances.jobs.jobs_schedule import JobsSchedule

if TYPE_CHECKING:
    from collections.abc import Mapping


def instance_text(instance: DagInstance | JobsInstance) -> str:
    """Return an instance as compact JSON."""
    if isinstance(instance, DagInstance):
        return _compact(dag_instance_document(instance))
    return _compact(jobs_instance_document(instance))


def schedule_text(instance: DagInstance | JobsInstance, schedule: DagSchedule | JobsSchedule) -> str:
    """Return a schedule of an instance as compact JSON."""
    if isinstance(instance, DagInstance) and isinstance(schedule, DagSchedule):
        return _compact(dag_schedule_document(instance, schedule))
    if isinstance(instance, JobsInstance) and isinstance(schedule, JobsSchedule):
        return _compact(jobs_schedule_document(instance, schedule))
    raise TypeError(f"schedule: expected one of a {type(instance).__name__}, got a {type(schedule).__name__}.")


def _compact(document: Mapping[str, object]) -> str:
    """Return a document as JSON without white space."""
    return json.dumps(document, separators=(",", ":"), allow_nan=False) + "\n"
