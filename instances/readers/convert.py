"""Files of public formats as instances of the problem that the format describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

    from instances.dag.instance import DagInstance
    from instances.jobs.instance import JobsInstance


def convert(format_name: str, path: str | PathLike[str], **options: Any) -> DagInstance | JobsInstance:
    """Read a file of a public format and return it as an instance.

    Parameters
    ----------
    format_name
        A name that `optgap convert --list` shows.
    path
        The file.
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
