"""Instances of either problem by name: from a generator, a file of a public format, or a file of optgap."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

    from instances.dag.instance import DagInstance
    from instances.jobs.instance import JobsInstance


def generate_any(family: str, **arguments: Any) -> DagInstance | JobsInstance:
    """Make an instance of a named family, of the problem that the family belongs to.

    Parameters
    ----------
    family
        A name that ``optgap generate --list`` shows.
    **arguments
        For a family of DAGs those of `instances.generators.dag.generate.generate` (``tasks`` and ``seed`` are
        required), for a family of jobs those of `instances.generators.jobs.generate.generate_jobs` (``jobs`` and
        ``seed`` are required).

    Raises
    ------
    TypeError
        If an argument is missing or of the wrong type.
    ValueError
        If the family or a parameter is unknown, or a value is out of range.
    """
    from instances.generators.dag.generate import FAMILIES, generate
    from instances.generators.jobs.generate import ALL_JOBS_FAMILIES, generate_jobs

    if family in FAMILIES:
        return generate(family, **arguments)
    if family in ALL_JOBS_FAMILIES:
        return generate_jobs(family, **arguments)
    known = [*FAMILIES, *ALL_JOBS_FAMILIES]
    near = difflib.get_close_matches(family, known) or known
    raise ValueError(f"family: expected one of {', '.join(near)}, got {family!r}.")


def convert(format_name: str, path: str | PathLike[str], **options: Any) -> DagInstance | JobsInstance:
    """Read a file of a public format and return it as an instance.

    Parameters
    ----------
    format_name
        A name that ``optgap convert --list`` shows.
    **options
        Options of the format's reader; most formats of DAGs take ``cluster``, ``cost`` and ``seed``.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the format or an option is unknown, or the file is not of the format; the message names the place.
    """
    from instances.readers.dag.read import READERS, read_instance
    from instances.readers.jobs.read import JOBS_READERS, read_jobs

    if format_name in JOBS_READERS:
        return read_jobs(format_name, path, **options)
    if format_name in READERS:
        return read_instance(format_name, path, **options)
    raise ValueError(f"format: expected one of {', '.join([*READERS, *JOBS_READERS])}, got {format_name!r}.")
