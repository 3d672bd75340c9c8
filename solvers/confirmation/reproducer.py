"""What a contradiction left behind, read back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from instances.fields import Fields
from instances.json_document import parse_json
from instances.readers.optgap_json import CODECS, problem_of_format
from instances.text_file import read_text
from solvers.run.contradiction import REPRODUCER_FORMAT, REPRODUCER_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from instances.readers.optgap_json import Codec, Instance, Schedule


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
    instance: Instance
    schedule: Schedule | None
    other_schedule: Schedule | None


def read_reproducer(path: str | PathLike[str]) -> Reproducer:
    """Read a reproducer file.

    Raises an `OSError` if the file cannot be read, and a `ValueError` if it is no reproducer; the message gives the
    place in it and what was expected.
    """
    parsed = parse_json(read_text(path))
    if isinstance(parsed, dict):  # a schedule that is null counts as left out
        parsed = {key: value for key, value in parsed.items() if key not in SCHEDULES or value is not None}
    document = Fields(parsed)
    document.check_format(REPRODUCER_FORMAT, REPRODUCER_VERSION)
    found_instance = document.mapping("instance")
    codec = CODECS[problem_of_format(found_instance.get("format"))]
    instance = codec.instance_from_json(json.dumps(found_instance))
    made = Reproducer(
        claim=document.text("claim"),
        claims=document.mapping("claims"),
        evidence=document.mapping("evidence"),
        versions=document.mapping("versions"),
        hardware=document.text("hardware"),
        instance=instance,
        schedule=_schedule(document, "schedule", codec, instance),
        other_schedule=_schedule(document, "other_schedule", codec, instance),
    )
    document.close()
    return made


def _schedule(document: Fields, key: str, codec: Codec, instance: Instance) -> Schedule | None:
    """Take a schedule that may be null."""
    value = document.mapping(key, None)
    schedule: Schedule | None = None if value is None else codec.schedule_from_json(json.dumps(value), instance)
    return schedule
