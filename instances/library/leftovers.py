"""Files that an update has left that was killed, or could not write."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from instances.whole_file import PARTIAL

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

SCHEDULE_NAME = re.compile(r"(.+)\.[a-z_]+\.[0-9]+\.json\.gz")
"""Name of the file of a schedule: instance, objective, value."""


def remove_leftovers(folder: Path, schedules: Path, names: Collection[str], kept: Collection[Path]) -> None:
    """Remove half-written files, and schedules that no entry has; files with other names are left alone.

    Parameters
    ----------
    folder, schedules
        Of a library whose lock is held, and of its schedules.
    names
        Of its instances.
    kept
        Schedules of its ledger.

    Raises
    ------
    OSError
        If a folder cannot be written.
    """
    for path in [*folder.iterdir(), *schedules.iterdir()]:
        parts = SCHEDULE_NAME.fullmatch(path.name)
        is_schedule = path.parent == schedules and parts is not None and parts[1] in names
        if path.name.startswith(PARTIAL) or (is_schedule and path not in kept):
            path.unlink(missing_ok=True)
