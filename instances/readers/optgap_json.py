"""The project's own JSON format: one record per problem that reads and writes its instances and schedules."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from instances.dag.instance import DagInstance
from instances.dag.json import INSTANCE_FORMAT as DAG_FORMAT
from instances.dag.json import (
    dag_instance_document,
    dag_instance_from_json,
    dag_instance_to_json,
    dag_schedule_document,
    dag_schedule_from_json,
    dag_schedule_to_json,
)
from instances.dag.schedule import DagSchedule
from instances.jobs.instance import JobsInstance
from instances.jobs.json import INSTANCE_FORMAT as JOBS_FORMAT
from instances.jobs.json import (
    jobs_instance_document,
    jobs_instance_from_json,
    jobs_instance_to_json,
    jobs_schedule_document,
    jobs_schedule_from_json,
    jobs_schedule_to_json,
)
from instances.jobs.schedule import JobsSchedule
from instances.json_document import parse_json
from instances.text_file import read_text, write_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike


Instance: TypeAlias = DagInstance | JobsInstance
Schedule: TypeAlias = DagSchedule | JobsSchedule


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Codec:
    """How instances and schedules of one problem are written as JSON and read back.

    Parameters
    ----------
    format
        Value of ``format`` in a file that holds an instance.
    instance_document, schedule_document
        Return the JSON values of an instance, and those of an instance's schedule.
    instance_to_json, schedule_to_json
        Return the same as readable text.
    instance_from_json, schedule_from_json
        Read a text, the second one as a schedule of an instance; both raise ValueError with the place in the text.
    stored_fields
        Arrays that make a schedule of a known instance; those that are None may be left out.
    names_instance
        Whether a schedule also holds the name and the hash of its instance.
    """

    format: str
    instance_type: type
    schedule_type: type
    instance_document: Callable[[Any], dict[str, Any]]
    schedule_document: Callable[[Any, Any], dict[str, Any]]
    instance_to_json: Callable[[Any], str]
    schedule_to_json: Callable[[Any, Any], str]
    instance_from_json: Callable[[str], Any]
    schedule_from_json: Callable[[str, Any], Any]
    stored_fields: tuple[str, ...]
    names_instance: bool

    def read_instance(self, path: str | PathLike[str]) -> Any:
        """Read an instance from a file.

        Raises an `OSError` if the file cannot be read, and a `ValueError` if it is not an instance; the message gives
        the place in it and what was expected.
        """
        return self.instance_from_json(read_text(path))

    def write_instance(self, instance: Any, path: str | PathLike[str]) -> None:
        """Write an instance to a file, compressed if its name ends in ``.gz``."""
        write_text(path, self.instance_to_json(instance))

    def read_schedule(self, path: str | PathLike[str], instance: Any) -> Any:
        """Read a schedule of `instance` from a file; it is not verified here.

        Raises an `OSError` if the file cannot be read, and a `ValueError` if it is not a schedule, or one of another
        instance.
        """
        return self.schedule_from_json(read_text(path), instance)

    def write_schedule(self, instance: Any, schedule: Any, path: str | PathLike[str]) -> None:
        """Write a schedule to a file, compressed if its name ends in ``.gz``."""
        write_text(path, self.schedule_to_json(instance, schedule))


CODECS = {
    "dag": Codec(
        format=DAG_FORMAT,
        instance_type=DagInstance,
        schedule_type=DagSchedule,
        instance_document=dag_instance_document,
        schedule_document=dag_schedule_document,
        instance_to_json=dag_instance_to_json,
        schedule_to_json=dag_schedule_to_json,
        instance_from_json=dag_instance_from_json,
        schedule_from_json=dag_schedule_from_json,
        stored_fields=("gpu", "start"),
        names_instance=False,
    ),
    "jobs": Codec(
        format=JOBS_FORMAT,
        instance_type=JobsInstance,
        schedule_type=JobsSchedule,
        instance_document=jobs_instance_document,
        schedule_document=jobs_schedule_document,
        instance_to_json=jobs_instance_to_json,
        schedule_to_json=jobs_schedule_to_json,
        instance_from_json=jobs_instance_from_json,
        schedule_from_json=jobs_schedule_from_json,
        stored_fields=("start", "entry_offsets", "entry_server", "entry_count", "gpu"),
        names_instance=True,
    ),
}
"""Codecs by the name of the problem."""


def codec_of(instance: object) -> Codec:
    """Return the codec of the problem that an instance is of; raises a `TypeError` if it is no instance."""
    return CODECS[problem_name(instance)]


def problem_name(instance: object) -> str:
    """Return the name of the problem that an instance is of: "dag" or "jobs".

    Raises a `TypeError` if it is no instance.
    """
    for name, codec in CODECS.items():
        if isinstance(instance, codec.instance_type):
            return name
    expected = " or a ".join(codec.instance_type.__name__ for codec in CODECS.values())
    raise TypeError(f"instance: expected a {expected}, got a {type(instance).__name__}.")


_JOBS_HEAD = re.compile(r'\s*\{\s*"format"\s*:\s*"optgap/jobs"')
"""How every jobs file of ours begins; such a file needs no parsing to be recognised."""


def problem_of_text(text: str) -> str:
    """Return the problem of an instance file by its text; that of DAGs, whose reader refuses what is neither."""
    if _JOBS_HEAD.match(text):
        return "jobs"
    if JOBS_FORMAT not in text:
        return "dag"
    try:
        document = parse_json(text)
    except ValueError:
        return "dag"
    return problem_of_format(document.get("format") if isinstance(document, dict) else None)


def read_instance_file(path: str | PathLike[str]) -> Instance:
    """Read an instance of either problem from a JSON file of optgap, decompressed if its name ends in ``.gz``.

    Raises an `OSError` if the file cannot be read, and a `ValueError` if it is not an instance; the message gives the
    place in the file and what was expected.

    Examples
    --------
    >>> import optgap
    >>> instance = optgap.from_lists([[4, 5], [3, 3]], [(0, 1, 0)], name="a chain")
    >>> optgap.write(instance, "chain.json")
    >>> optgap.read("chain.json").sha256 == instance.sha256
    True
    """
    text = read_text(path)
    instance: Instance = CODECS[problem_of_text(text)].instance_from_json(text)
    return instance


def write_instance_file(instance: Instance, path: str | PathLike[str]) -> None:
    """Write an instance to a JSON file of optgap, compressed if its name ends in ``.gz``; its hash stays the same.

    Examples
    --------
    >>> import optgap
    >>> optgap.write(optgap.generate("layered", tasks=8, seed=1), "layered.json.gz")
    >>> optgap.read("layered.json.gz").num_tasks
    8
    """
    codec_of(instance).write_instance(instance, path)


def problem_of_format(found: object) -> str:
    """Return the problem of a file by its ``format``; the reader of DAG instances refuses what is neither."""
    return next((name for name, codec in CODECS.items() if codec.format == found), "dag")
