"""Files that whoever reads sees as a whole: the old one or the new one."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PARTIAL = ".part-"
"""How the names of files begin that are being written; one that stays is of a process that was killed."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give another name to write under; what is there at the end takes the place of a file at once.

    Where the writing fails, the old file stays and nothing is left beside it. Several threads and processes may do so
    at once; the last one wins.

    Parameters
    ----------
    path
        Of the file. The other name is in the same folder and has the same ending.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    partial = path.with_name(f"{PARTIAL}{os.getpid()}-{threading.get_ident()}-{path.name}")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
