"""What happens on a machine of a cluster: the part of `DaskExecutor` that runs inside its workers.

Functions here are called by name from the process that runs the study, in threads of a Dask worker. Every run is made
in a subprocess, as it would be on the machine of the study, so that it can be limited and killed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import tempfile
import threading
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from instances.whole_file import whole_file
from studies.experiment.executors.executor import ExecutedRun
from studies.experiment.run_answer import RunAnswer
from studies.experiment.worker import Worker, WorkerStartError

if TYPE_CHECKING:
    from studies.experiment.execute_run import RunOrder
    from studies.experiment.run_limit import RunLimit

SILENT_SECONDS = 30.0
"""After so long without a beat from its study a machine ends the runs of it: nobody waits for them."""

LOOK_SECONDS = 1.0
"""How often that is looked at."""

NEEDS_CONTENT = "needs the content of the instance"
"""Answer where an instance is not there and was not sent."""


class ClusterHost:
    """The subprocesses and instance files that a study has on this machine.

    Parameters
    ----------
    folder
        Where instances are written; removed at the end.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._is_stopped = False
        self._lock = threading.Lock()
        self.last_beat = time.monotonic()

    def run(self, order: RunOrder, limit: RunLimit, content: bytes | None) -> ExecutedRun | str:
        """Make a run; a text says why none was made."""
        path = self._folder / f"{order.sha256}.json"
        if not path.is_file():
            if content is None:
                return NEEDS_CONTENT
            with whole_file(path) as partial:  # what is in it is checked by its hash where it is read
                partial.write_bytes(zlib.decompress(content))
        with self._lock:
            if self._is_stopped:
                return ExecutedRun(answer=RunAnswer(is_interrupted=True), environment=None)
            worker = self._idle.pop() if self._idle else Worker()
            self._busy.add(worker)
        try:
            answer = worker.run(dataclasses.replace(order, instance_path=str(path)), limit)
            return ExecutedRun(answer=answer, environment=worker.environment)
        except WorkerStartError as error:
            return str(error)
        finally:
            with self._lock:
                self._busy.discard(worker)
                if not self._is_stopped:
                    self._idle.append(worker)
            if self._is_stopped:
                worker.close()

    def close(self) -> None:
        """Kill everything; runs that are being made count as interrupted."""
        with self._lock:
            self._is_stopped = True
            idle, busy = list(self._idle), list(self._busy)
            self._idle.clear()
        for worker in busy:
            worker.stop()  # the thread that waits for it does the rest
        for worker in idle:
            worker.close()
        shutil.rmtree(self._folder, ignore_errors=True)


_hosts: dict[str, ClusterHost] = {}
_ended: set[str] = set()
_lock = threading.Lock()
_watch: threading.Thread | None = None


def run_on_host(session: str, order: RunOrder, limit: RunLimit, content: bytes | None) -> ExecutedRun | str:
    """Make a run of a session in a subprocess; a text says why none was made."""
    with _lock:
        if session in _ended:
            return ExecutedRun(answer=RunAnswer(is_interrupted=True), environment=None)
        host = _hosts.get(session)
        if host is None:
            host = _hosts[session] = ClusterHost(Path(tempfile.mkdtemp(prefix="optgap-", dir=_scratch())))
            _start_watch()
    return host.run(order, limit, content)


def beat(session: str) -> None:
    """Hear that the study of a session is still there."""
    with _lock, contextlib.suppress(KeyError):
        _hosts[session].last_beat = time.monotonic()


def end_session(session: str) -> None:
    """Kill all runs of a session and take no more of it."""
    with _lock:
        _ended.add(session)
        host = _hosts.pop(session, None)
    if host is not None:
        host.close()


def installed_version() -> str:
    """Return the version of this software on this machine."""
    from solvers.versions import version_of

    return str(version_of("optgap"))


def _scratch() -> str | None:
    """Return the folder that Dask cleans, even of what a worker left that was killed."""
    from distributed import get_worker

    try:
        return str(get_worker().local_directory)
    except ValueError:  # not inside a worker
        return None


def _start_watch() -> None:
    """Start the thread that misses beats, once per process."""
    global _watch
    if _watch is None:
        _watch = threading.Thread(target=_end_silent_sessions, daemon=True)
        _watch.start()


def _end_silent_sessions() -> None:
    """End the runs of studies that are gone; should one come back, it begins anew."""
    while True:
        time.sleep(LOOK_SECONDS)
        with _lock:
            now = time.monotonic()
            silent = [key for key, host in _hosts.items() if now - host.last_beat > SILENT_SECONDS]
            hosts = [_hosts.pop(key) for key in silent]
        for host in hosts:
            host.close()
