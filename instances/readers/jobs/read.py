"""The traces of jobs that can be read, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.readers.format import Format, read_format

if TYPE_CHECKING:
    from os import PathLike

    from instances.jobs.instance import JobsInstance


JOBS_READERS: dict[str, Format] = {
    "philly": Format(
        ".jobs.philly_and_helios:read_philly",
        "jobs of Microsoft's Philly trace as Gen-Parallel-Workloads cuts it; networks modelled",
        (".csv", ".csv.gz"),
    ),
    "helios": Format(
        ".jobs.philly_and_helios:read_helios",
        "jobs of SenseTime's Helios trace as Gen-Parallel-Workloads cuts it; networks modelled",
        (".csv", ".csv.gz"),
    ),
}
"""Formats by name."""


TRACE_SOURCES = {
    "philly": "Philly/training_data/philly_data_training.csv of DIR-LAB/Gen-Parallel-Workloads on GitHub, also gzipped",
    "helios": "Helios/training_data/helios_data_training.csv of DIR-LAB/Gen-Parallel-Workloads on GitHub, also gzipped",
}
"""Where the traces come from; they are not part of the package."""


def read_jobs(format_name: str, path: str | PathLike[str], **options: object) -> JobsInstance:
    """Read a trace of jobs, in a format of `JOBS_READERS`, into an instance; errors as in `read_instance`."""
    instance: JobsInstance = read_format(JOBS_READERS, format_name, path, options)
    return instance
