"""What a contradiction left behind, read back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from instances.dag.instance import DagInstance
from instances.dag.json import dag_instance_from_json, dag_schedule_from_json
from instances.fields import Fields
from instances.jobs.json import INSTANCE_FORMAT as JOBS_FORMAT
from instances.jobs.json import jobs_instance_from_json, jobs_schedule_from_json
from instances.json_document import parse_json
from instances.text_file import read_text
from solvers.run.contradiction import REPRODUCER_FORMAT, REPRODUCER_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from instances.dag.schedule import DagSchedule
    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule


SCHEDULES = ("schedule", "other_schedule")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reproducer:
    """Everything about two answers that cannot both be right.

    Parameters
    ----------
    claim
        What contradicts what, in one sentence.
    claims
        What each side says, by its name with solver and version; empty where a bound was handed in from outside.
    evidence
        Bounds, methods, seeds.
    versions, hardware
        What it was computed with.
    instance
        What was being solved.
    schedule
        The verified schedule that contradicts, if any.
    other_schedule
        The schedule of the other side, if it had one.
    """

    claim: str
    claims: Mapping[str, str]
    evidence: Mapping[str, Any]
    versions: Mapping[str, str | None]
    hardware: str
    instance: DagInstance | JobsInstance
    schedule: DagSchedule | JobsSchedule | None
    other_schedule: DagSchedule | JobsSchedule | None


def read_reproducer(path: str | PathLike[str]) -> Reproducer:
    """Read a reproducer file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no reproducer; the message gives the place in it and what was expected.
    """
    parsed = parse_json(read_text(path))
    if isinstance(parsed, dict):  # a schedule that is null counts as left out
        parsed = {key: value for key, value in parsed.items() if key not in SCHEDULES or value is not None}
    document = Fields(parsed)
    document.check_format(REPRODUCER_FORMAT, REPRODUCER_VERSION)
    instance = _instance(document.mapping("instance"))
    made = Reproducer(
        claim=document.text("claim"),
        claims=document.mapping("claims"),
        evidence=document.mapping("evidence"),
        versions=document.mapping("versions"),
        hardware=document.text("hardware"),
        instance=instance,
        schedule=_schedule(document, "schedule", instance),
        other_schedule=_schedule(document, "other_schedule", instance),
    )
    document.close()
    return made


def _instance(document: Mapping[str, Any]) -> DagInstance | JobsInstance:
    """Read an instance of whichever problem it says."""
    text = json.dumps(document)
    return jobs_instance_from_json(text) if document.get("format") == JOBS_FORMAT else dag_instance_from_json(text)


def _schedule(document: Fields, key: str, instance: DagInstance | JobsInstance) -> DagSchedule | JobsSchedule | None:
    """Take a schedule that may be null."""
    value = document.mapping(key, None)
    if value is None:
        return None
    if isinstance(instance, DagInstance):
        return dag_schedule_from_json(json.dumps(value), instance)
    return jobs_schedule_from_json(json.dumps(value), instance)
