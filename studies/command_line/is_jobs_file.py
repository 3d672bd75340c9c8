"""Which of the two problems an instance file is of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from studies.command_line.bad_input import MAX_BYTES

if TYPE_CHECKING:
    from os import PathLike

MARK = b'optgap/jobs"'
"""Without these bytes a file is read once only, by the reader of DAG instances, which tells what is wrong with it."""


def is_jobs_file(path: str | PathLike[str]) -> bool:
    """Say whether a file says that it is a jobs instance; False for one that cannot be read or is broken."""
    from instances.file_format import file_format

    file = Path(path)
    try:
        if not file.is_file() or file.stat().st_size > MAX_BYTES or MARK not in file.read_bytes():
            return False
        return file_format(file) == "optgap/jobs"
    except OSError:
        return False
