"""Reading and writing the instances beside a store, whichever problem they are of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from instances.dag_json import dag_instance_from_json, write_dag_instance
from instances.jobs.jobs_instance import JobsInstance
from instances.jobs.jobs_json import jobs_instance_from_json, write_jobs_instance
from instances.text_file import read_text

if TYPE_CHECKING:
    from os import PathLike

    from instances.dag_instance import DagInstance

_JOBS_HEAD = re.compile(r'\s*\{\s*"format"\s*:\s*"optgap/jobs"')
"""How every jobs file of ours begins; anything else is read, or refused with a reason, as a DAG instance."""


def read_instance(path: str | PathLike[str], sha256: str | None = None) -> DagInstance | JobsInstance:
    """Read an instance of either problem from a JSON file.

    Parameters
    ----------
    path
        Of the file.
    sha256
        Content hash that it must have, None for any.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not an instance, or one with another content.
    """
    text = read_text(path)
    instance = jobs_instance_from_json(text) if _JOBS_HEAD.match(text) else dag_instance_from_json(text)
    if sha256 is not None and instance.sha256 != sha256:
        raise ValueError(f"sha256: expected the content {sha256[:16]}..., got {instance.sha256[:16]}...")
    return instance


def write_instance(instance: DagInstance | JobsInstance, path: str | PathLike[str]) -> None:
    """Write an instance of either problem to a JSON file; reading it back gives the same content hash."""
    if isinstance(instance, JobsInstance):
        write_jobs_instance(instance, path)
    else:
        write_dag_instance(instance, path)
