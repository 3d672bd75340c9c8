"""A trace of jobs becomes a jobs instance, for the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.jobs.jobs_json import write_jobs_instance
from instances.readers.jobs.jobs_readers import JOBS_READERS, read_jobs
from studies.command_line.aligned import aligned
from studies.command_line.bad_input import BadInputError, options, reading, writing
from studies.command_line.jobs_summary import jobs_lines, jobs_summary
from studies.command_line.live_progress import LiveProgress
from studies.command_line.output import print_json, print_text
from studies.command_line.output_file import check_outputs
from studies.command_line.set_parameters import set_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

OWN_OPTIONS = {"cluster": "--gpus", "seed": "--seed", "tick_seconds": "--tick-seconds"}
"""Parameters of readers that have options of their own."""


def convert_jobs_file(
    format_name: str,
    file: Path,
    *,
    given: Mapping[str, object],
    others: Mapping[str, object],
    texts: Sequence[str],
    output: Path,
    as_json: bool,
) -> None:
    """Read a trace, write the instance and say what it is.

    Parameters
    ----------
    format_name
        A key of `JOBS_READERS`.
    file
        The trace.
    given
        Values of `OWN_OPTIONS`; None where one was not given.
    others
        Options that no trace has, by name; None where one was not given.
    texts
        ``key=value`` for all other options of the format.
    output
        File to write.
    as_json
        Whether to print JSON.

    Raises
    ------
    BadInputError
        If an option is none of this format, or out of range, or the file is broken.
    """
    for name, value in others.items():
        if value is not None:
            option = name.replace("_", "-")
            raise BadInputError(f"--{option}: expected none for format {format_name}, which has no such option.")
    values = set_parameters(format_name, JOBS_READERS[format_name].function(), texts, without=list(OWN_OPTIONS))
    places = {**{name: f"--set {name}" for name in JOBS_READERS[format_name].options()}, **OWN_OPTIONS}
    chosen = {**values, **{name: value for name, value in given.items() if value is not None}}
    check_outputs([file], [output])
    with LiveProgress(f"reading {file.name}", is_search=False), reading(file), options(places, str(file)):
        instance = read_jobs(format_name, file, **chosen)
    with writing(output):
        write_jobs_instance(instance, output)
    if as_json:
        print_json({**jobs_summary(instance, output), "converted_from": str(file), "from_format": format_name})
    else:
        print_text(aligned(jobs_lines(instance, output)))
