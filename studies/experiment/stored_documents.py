"""Instances beside a store and schedules in it, of either problem, as JSON texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from instances.readers.optgap_json import CODECS, codec_of, read_instance_file

if TYPE_CHECKING:
    from os import PathLike

    from instances.readers.optgap_json import Instance, Schedule


def read_stored_instance(path: str | PathLike[str], sha256: str | None = None) -> Instance:
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
    instance = read_instance_file(path)
    if sha256 is not None and instance.sha256 != sha256:
        raise ValueError(f"sha256: expected the content {sha256[:16]}..., got {instance.sha256[:16]}...")
    return instance


def stored_schedule_text(schedule: Schedule | None) -> str | None:
    """Return a schedule as JSON text of its arrays, those that it has; None without a schedule."""
    if schedule is None:
        return None
    fields = next(codec.stored_fields for codec in CODECS.values() if isinstance(schedule, codec.schedule_type))
    arrays = {name: getattr(schedule, name) for name in fields}
    content = {name: array.tolist() for name, array in arrays.items() if array is not None}
    return json.dumps(content, separators=(",", ":"))


def stored_schedule(instance: Instance, text: str | None) -> Schedule | None:
    """Return the schedule of an instance from its text; it is not verified here."""
    if text is None:
        return None
    codec = codec_of(instance)
    of_instance = {"instance_name": instance.name, "instance_sha256": instance.sha256} if codec.names_instance else {}
    schedule: Schedule = codec.schedule_type(**json.loads(text), **of_instance)
    return schedule
