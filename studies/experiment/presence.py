"""Which processes work on a study, and which of them are gone."""

from __future__ import annotations

import hashlib
import os
import platform
import time
import uuid
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

    from studies.experiment.study_store import StudyStore

BEAT_SECONDS = 5.0
"""How often a process says that it is alive."""

SILENT_SECONDS = 120.0
"""After so long without a beat a process counts as gone; what it still answers is then dropped."""


class Presence:
    """The current process as owner of runs, while it is entered.

    Parameters
    ----------
    store
        Of the study.
    """

    def __init__(self, store: StudyStore) -> None:
        self._store = store
        self._host = hashlib.sha256(platform.node().encode()).hexdigest()[:16]  # tells computers apart, names none
        self._last = 0.0
        self.owner = uuid.uuid4().hex

    def __enter__(self) -> Self:
        """Appear, and free what processes that are gone had taken."""
        self.beat()
        self.free_abandoned()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Give back what was taken and not answered."""
        self._store.drop_owner(self.owner)

    def beat(self) -> None:
        """Say that this process is alive, if that is due."""
        now = time.time()
        if now - self._last >= BEAT_SECONDS:
            self._last = now
            self._store.write_owner(self.owner, self._host, os.getpid(), now)

    def free_abandoned(self) -> None:
        """Give back the runs of processes that are gone."""
        for row in self._store.select("SELECT * FROM owners"):
            is_here = row["host"] == self._host
            is_gone = time.time() - row["beat"] > SILENT_SECONDS or (is_here and not _is_alive(row["pid"]))
            if is_gone and row["id"] != self.owner:
                self._store.drop_owner(row["id"])


def _is_alive(pid: int) -> bool:
    """Say whether a process of that number may run here."""
    if os.name != "posix":
        return True  # there is no signal that only asks
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
