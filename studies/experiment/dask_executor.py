"""Runs on a cluster that exists, through Dask."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import shutil
import tempfile
import threading
import time
import uuid
import warnings
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instances.text_file import whole_file
from studies.experiment.executor import ExecutedRun, ExecutorError, SlotLostError
from studies.experiment.run_answer import RunAnswer
from studies.experiment.worker import Worker, WorkerStartError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studies.experiment.execute_run import RunOrder
    from studies.experiment.run_answer import RunLimit


CONNECT_SECONDS = 10.0
"""How long the scheduler may take to answer, at the beginning and after it was lost."""

BEAT_SECONDS = 3.0
"""How often the study tells the cluster that it is there, and asks which workers are."""

EMPTY_SECONDS, EMPTY_LOOK_SECONDS = 120.0, 0.5
"""How long a study waits for workers where there are none, and how often it looks then."""

GOODBYE_SECONDS = 10.0
"""How long a study waits until the cluster has stopped its runs."""


class DaskExecutor:
    """The workers of a Dask cluster, with a slot for every thread of each; a run with several threads takes so many.

    This process decides which worker makes which run, because only so it can count threads; Dask carries orders and
    answers. Runs are made in subprocesses of the Dask workers, with the limits that they have anywhere. Instances are
    sent with the first run of each on a worker; nothing else of this machine need be visible there, but optgap must be
    installed in the same version, and so must the modules of one's own methods. Workers may come and go. A run whose
    worker is lost is made again; what is stored is stored by this process alone, so nothing is there twice. The address
    of the scheduler is such as ``tcp://host:8786``. Raises an `ExecutorError` if nothing answers there, or no worker
    has this software.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise ExecutorError(f"expected the extra cluster (pip install 'optgap[cluster]'), got: {error}.") from error
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters comes as one line of ours
        self.address = address
        try:
            self.client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False, name="optgap-study")
        except (OSError, ValueError, TypeError, ImportError) as error:
            said = " ".join(str(error).split()).rstrip(".")
            raise ExecutorError(f"expected a Dask scheduler that answers at {address}, got: {said}.") from error
        self.session = uuid.uuid4().hex
        self.is_stopped = False
        self._threads_of: dict[str, int] = {}
        self._refused: dict[str, str] = {}
        self._checked: set[str] = set()
        self._slots: dict[tuple[str, int], DaskSlot] = {}
        self._empty_since: float | None = None
        self._closing = threading.Event()
        try:
            self._look()
            self._refuse_hopeless()
        except BaseException:
            self.client.close(timeout=GOODBYE_SECONDS)
            raise
        threading.Thread(target=self._keep_in_touch, daemon=True).start()

    @property
    def num_threads(self) -> int:
        """Threads of all workers that are there now."""
        return max(1, sum(self._usable().values()))

    def slots(self, threads: int) -> Sequence[DaskSlot]:
        """Return the slots for runs of so many threads; where no worker has so many, the largest makes one at a time.

        Raises an `ExecutorError` if the scheduler is gone for good, no worker has this software, or none came for two
        minutes.
        """
        if self.client.status == "closed":
            raise ExecutorError(f"expected the Dask scheduler at {self.address} to answer again, got nothing.")
        usable = {} if self.client.status != "running" else self._usable()
        if not usable:
            self._wait_for_workers()
            return []
        self._empty_since = None
        places = [(address, number) for address, count in usable.items() for number in range(count // threads)]
        if not places:
            places = [(max(usable, key=lambda address: usable[address]), 0)]
        for place in places:
            if place not in self._slots:
                self._slots[place] = DaskSlot(self, place[0])
        return [self._slots[place] for place in places]

    def has_worker(self, address: str) -> bool:
        """Say whether a worker was there when the scheduler was last asked, and can be used."""
        return address in self._usable()

    def refuse(self, address: str, why: str) -> None:
        """Use a worker no more."""
        self._refused[address] = why
        warnings.warn(f"The Dask worker {address} is not used: {why}", stacklevel=2)

    def stop(self) -> None:
        """Stop all runs on the cluster; takes ten seconds at most, also where the cluster does not answer."""
        if self.is_stopped:
            return
        self.is_stopped = True
        self._closing.set()
        farewell = threading.Thread(target=self._tell, args=(end_session,), daemon=True)
        farewell.start()
        farewell.join(GOODBYE_SECONDS)

    def close(self) -> None:
        """Stop all runs and leave the cluster as it was."""
        self.stop()
        with contextlib.suppress(Exception):  # whatever a lost scheduler may do
            self.client.close(timeout=GOODBYE_SECONDS)

    def _usable(self) -> dict[str, int]:
        """Return the threads of workers that are there and have this software."""
        return {address: count for address, count in self._threads_of.items() if address not in self._refused}

    def _keep_in_touch(self) -> None:
        """Say again and again that this study is there; a thread of its own for every beat, as one may get stuck."""
        while not self._closing.wait(BEAT_SECONDS if self._threads_of else EMPTY_LOOK_SECONDS):
            threading.Thread(target=self._tell, args=(beat,), daemon=True).start()
            with contextlib.suppress(Exception):  # the scheduler may be away; what was known last is kept
                self._look()

    def _look(self) -> None:
        """Ask which workers there are, and new ones for their version."""
        found = dict(self.client.nthreads())
        new = [address for address in found if address not in self._checked]
        if new:
            from solvers.run.versions import version_of

            said: dict[str, Any] = self.client.run(installed_version, workers=new, on_error="return")
            wanted = str(version_of("optgap"))
            for address in new:
                self._checked.add(address)
                if address in said and said[address] != wanted:
                    self.refuse(address, f"expected optgap {wanted}, got {said[address]!r}.")
        self._threads_of = found

    def _tell(self, what: Any) -> None:
        """Call a function of `cluster_host` with this session on all workers."""
        with contextlib.suppress(Exception):
            self.client.run(what, self.session, on_error="ignore")

    def _refuse_hopeless(self) -> None:
        """Raise where there are workers and none can be used."""
        if self._threads_of and not self._usable():
            address, why = next(iter(self._refused.items()))
            raise ExecutorError(f"expected a Dask worker that can make runs, got none: {address}: {why}")

    def _wait_for_workers(self) -> None:
        """Raise where waiting is of no use, or was long enough."""
        self._refuse_hopeless()
        now = time.monotonic()
        self._empty_since = now if self._empty_since is None else self._empty_since
        if now - self._empty_since > EMPTY_SECONDS:
            raise ExecutorError(f"expected workers at {self.address}, got none for {EMPTY_SECONDS:g} s.")


SLOT_LOOK_SECONDS = 0.5
"""How often a waiting slot looks whether its worker is still there."""


class DaskSlot:
    """A thread of a Dask worker, or several."""

    def __init__(self, executor: DaskExecutor, address: str) -> None:
        self._executor = executor
        self._address = address
        self._has_sent: set[str] = set()

    def run(self, order: RunOrder, limit: RunLimit) -> ExecutedRun:
        """Make a run on this worker; raises `SlotLostError` where the worker or the scheduler is lost."""
        is_new = order.sha256 not in self._has_sent
        done = self._result(order, limit, _content(order) if is_new else None)
        if done == NEEDS_CONTENT:  # the worker began anew under the same address
            done = self._result(order, limit, _content(order))
        if isinstance(done, ExecutedRun):
            self._has_sent.add(order.sha256)
            return done
        self._executor.refuse(self._address, str(done))
        raise SlotLostError(str(done), blames_run=False)

    def _result(self, order: RunOrder, limit: RunLimit, content: bytes | None) -> Any:
        """Submit an order and wait; what the run came to, or a text that says why it was not made."""
        executor = self._executor
        if executor.is_stopped:
            return _INTERRUPTED
        try:
            future = executor.client.submit(
                run_on_host,
                executor.session,
                dataclasses.replace(order, instance_path=""),  # it is a path of this machine
                limit,
                content,
                key=f"optgap-run-{uuid.uuid4().hex}",  # equal calls are different runs: a repeated one is wanted anew
                pure=False,
                workers=[self._address],
                allow_other_workers=False,
                retries=0,
            )
        except Exception as error:  # a client that is closed or closing
            raise SlotLostError(f"the scheduler is lost: {error}", blames_run=False) from error
        is_done = threading.Event()
        future.add_done_callback(lambda _: is_done.set())
        try:
            while not is_done.wait(SLOT_LOOK_SECONDS):
                if executor.is_stopped:
                    return _INTERRUPTED
                if not executor.has_worker(self._address):
                    raise SlotLostError(f"the Dask worker {self._address} was lost", blames_run=True)
            if future.status == "finished":
                return future.result()
            if future.status == "error":
                return self._failed(future)
            raise SlotLostError("the scheduler was lost", blames_run=False)
        except SlotLostError:
            raise
        except Exception as error:  # the answer went with the worker that held it, or the scheduler is gone
            raise SlotLostError(f"the answer was lost: {error}", blames_run=True) from error
        finally:
            future.cancel(force=True)  # nothing remembers it, and nobody makes it again on a worker that comes back

    def _failed(self, future: Any) -> str:
        """Say why Dask could not call the function, or that it lost its worker too often."""
        from distributed import KilledWorker

        error = future.exception()
        if isinstance(error, KilledWorker):
            raise SlotLostError(f"the Dask worker {self._address} was lost several times", blames_run=True)
        return f"expected runs to begin, got {type(error).__name__}: {error}"


_INTERRUPTED = ExecutedRun(answer=RunAnswer(is_interrupted=True), environment=None)


def _content(order: RunOrder) -> bytes:
    """Return the file of an instance, compressed."""
    return zlib.compress(Path(order.instance_path).read_bytes(), 1)


# What happens on a machine of a cluster: the part of `DaskExecutor` that runs inside its workers.
#
# Functions here are called by name from the process that runs the study, in threads of a Dask worker. Every run is made
# in a subprocess, as it would be on the machine of the study, so that it can be limited and killed.


SILENT_SECONDS = 30.0
"""After so long without a beat from its study a machine ends the runs of it: nobody waits for them."""

LOOK_SECONDS = 1.0
"""How often that is looked at."""

NEEDS_CONTENT = "needs the content of the instance"
"""Answer where an instance is not there and was not sent."""


class ClusterHost:
    """The subprocesses and instance files that a study has on this machine.

    `folder` holds instances and is removed at the end.
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
    from solvers.run.versions import version_of

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
