"""The traces of jobs that can be read, by name."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from instances.jobs.instance import JobsInstance


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsReader:
    """A format, and the function that reads it.

    Parameters
    ----------
    path
        Module and function, ``module:function``; imported when it is first used.
    description
        What the format is, in one line.
    extensions
        Usual endings of its files.
    """

    path: str
    description: str
    extensions: tuple[str, ...]

    def function(self) -> Callable[..., JobsInstance]:
        """Import and return the function."""
        module, _, name = self.path.partition(":")
        function: Callable[..., JobsInstance] = getattr(importlib.import_module(module), name)
        return function

    def options(self) -> dict[str, inspect.Parameter]:
        """Return the options of the function by name: its keyword-only parameters."""
        parameters = inspect.signature(self.function()).parameters
        return {name: item for name, item in parameters.items() if item.kind is inspect.Parameter.KEYWORD_ONLY}


JOBS_READERS: dict[str, JobsReader] = {
    "philly": JobsReader(
        path="instances.readers.jobs.philly_and_helios:read_philly",
        description="jobs of Microsoft's Philly trace as Gen-Parallel-Workloads cuts it; networks modelled",
        extensions=(".csv", ".csv.gz"),
    ),
    "helios": JobsReader(
        path="instances.readers.jobs.philly_and_helios:read_helios",
        description="jobs of SenseTime's Helios trace as Gen-Parallel-Workloads cuts it; networks modelled",
        extensions=(".csv", ".csv.gz"),
    ),
}
"""Formats by name."""


def read_jobs(format_name: str, path: str | PathLike[str], **options: object) -> JobsInstance:
    """Read a trace of jobs into an instance.

    Parameters
    ----------
    format_name
        A key of `JOBS_READERS`.
    options
        Options of the format's reader.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the format or an option is unknown, an option is out of range, or the file is broken; the message gives the
        place in the file.
    """
    if format_name not in JOBS_READERS:
        raise ValueError(f"format: expected one of {', '.join(JOBS_READERS)}, got {format_name!r}.")
    reader = JOBS_READERS[format_name]
    known = reader.options()
    for name in options:
        if name not in known:
            raise ValueError(f"option {name}: expected one of {', '.join(known)}, the options, got {name!r}.")
    return reader.function()(path, **options)
