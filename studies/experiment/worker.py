"""A worker process, seen from outside: ask, wait, and kill where it overruns its limits."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instances.compilation import COMPILATION
from studies.experiment.run_answer import RunAnswer, RunLimit

if TYPE_CHECKING:
    from studies.experiment.execute_run import RunOrder


WARM_UP_SECONDS = 900.0
"""Time to load and to compile everything that a method needs."""

LEAST_WARM_UP_SECONDS, WARM_UP_FACTOR = 60.0, 10.0
"""A function of somebody else may hang on any instance: it has so much time, or so many times the limit of the run."""

LOOK_SECONDS = 0.05
"""How often a run that is waited for is held against its limits."""

GIB = 2**30


class WorkerStartError(Exception):
    """A worker process cannot even begin: nothing is said about any run."""


class Worker:
    """One worker process, started when it is first needed and again after it died; used by one thread at a time.

    The limit of memory is one of *physical* memory, watched from outside. An address space says little: JAX and
    CP-SAT reserve five to seven times what they hold (measured: 1.5 and 1.8 GiB for 0.2 and 0.4, and more with more
    cores), and die of a limit on it without a word. A run that grows between two looks exceeds its limit by what it
    can touch in 0.05 s. Where the system does not tell what a process holds, the address space is limited instead.
    """

    def __init__(self) -> None:
        self._connection: WorkerConnection | None = None
        self._begin_bytes = 0
        self._cold: set[tuple[str, str]] = set()
        self._is_stopped = False
        self._lock = threading.Lock()
        self.environment: str | None = None

    def run(self, order: RunOrder, limit: RunLimit) -> RunAnswer:
        """Return the answer to an order; where the process dies or overruns a limit, one that says so.

        Where that happens while the method is warmed up, nothing is said about the run: it is made without warm-up.

        Raises a `WorkerStartError` if the process ends before it is ready for its first run.
        """
        try:
            connection = self._started(limit)
            method = (order.method, repr(sorted(order.parameters.items())))
            connection.send((order, method not in self._cold))
            try:
                self._hear(connection, "began", _warm_up_limit(order, limit))
            except (_LimitError, WorkerEndedError):
                if self._is_stopped or method in self._cold:
                    raise
                self._cold.add(method)
                self._bury()
                return self.run(order, limit)
            answer = self._hear(connection, "answer", limit)
        except _LimitError as error:
            self._bury()
            return RunAnswer(error=str(error))
        except WorkerEndedError:
            words = self._bury()
            if self._is_stopped:
                return RunAnswer(is_interrupted=True)
            return RunAnswer(error=f"WorkerDied: the process of the run ended with {words}".rstrip())
        assert isinstance(answer, RunAnswer)
        self._retire_where_it_hoards(limit)
        return answer

    def stop(self) -> None:
        """Kill the process, also in the middle of a run; the worker cannot be used after it."""
        with self._lock:
            self._is_stopped = True
            if self._connection is not None:
                self._connection.kill()

    def close(self) -> None:
        """Kill and forget the process."""
        self.stop()
        self._bury()

    def _started(self, limit: RunLimit) -> WorkerConnection:
        """Return the connection to the process, which is started where there is none."""
        if self._connection is not None:
            return self._connection
        with self._lock:
            if self._is_stopped:
                raise WorkerEndedError
            connection = self._connection = WorkerConnection(None if CAN_WATCH else limit.memory_gib)
        try:
            self.environment = self._hear(
                connection, "environment", RunLimit(seconds=WARM_UP_SECONDS, memory_gib=limit.memory_gib)
            )
        except (WorkerEndedError, _LimitError) as error:
            words = self._bury()
            if self._is_stopped:
                raise WorkerEndedError from error
            said = str(error) or f"one that ended with {words}"
            raise WorkerStartError(f"worker: expected a process that begins, got {said.rstrip('.')}.") from error
        self._begin_bytes = physical_bytes(connection.pid)
        return connection

    def _hear(self, connection: WorkerConnection, kind: str, limit: RunLimit) -> Any:
        """Return the content of the next message, which must be of that kind; seconds of compilation do not count."""
        begin, compiling_since = time.monotonic(), None
        is_limited = limit.seconds is not None or limit.memory_gib is not None
        while True:
            message = connection.receive(LOOK_SECONDS if is_limited else None)
            if message is not None:
                found, content = message
                if found == "not kept":
                    COMPILATION.note_not_kept(content)
                    continue
                if found != "compiling":
                    break
                if content:
                    compiling_since = time.monotonic()
                    COMPILATION.workers[connection.pid] = time.perf_counter()
                elif compiling_since is not None:
                    begin += time.monotonic() - compiling_since
                    compiling_since = None
                    COMPILATION.workers.pop(connection.pid, None)
                continue
            is_late = limit.seconds is not None and time.monotonic() - begin > limit.seconds
            if is_late and compiling_since is None:
                raise _LimitError(f"TimeLimit: the run was killed after its limit of {limit.seconds:g} s.")
            if limit.memory_gib is not None:
                held = tree_bytes(connection.pid, int(limit.memory_gib * GIB)) / GIB
                if held > limit.memory_gib:
                    amounts = f"its limit of {limit.memory_gib:g} GiB, it held {held:.3g} GiB"
                    raise _LimitError(f"MemoryLimit: the run was killed at {amounts}.")
        if found != kind:
            raise WorkerEndedError
        return content

    def _retire_where_it_hoards(self, limit: RunLimit) -> None:
        """End a process that keeps more than half of its memory after a run, so that the next run can use it."""
        if limit.memory_gib is None or self._connection is None:
            return
        available = limit.memory_gib * GIB - self._begin_bytes
        if physical_bytes(self._connection.pid) - self._begin_bytes > available / 2:
            self._bury()

    def _bury(self) -> str:
        """End the process, make room for the next one, and return how it ended."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                COMPILATION.workers.pop(connection.pid, None)
        return "" if connection is None else connection.close()


def _warm_up_limit(order: RunOrder, limit: RunLimit) -> RunLimit:
    """Return what the warm-up before a run may take."""
    seconds = WARM_UP_SECONDS
    if ":" in order.method and limit.seconds is not None:
        seconds = min(seconds, max(LEAST_WARM_UP_SECONDS, WARM_UP_FACTOR * limit.seconds))
    return RunLimit(seconds=seconds, memory_gib=limit.memory_gib)


class _LimitError(Exception):
    """A run overran a limit; the text says which."""


WORKER_MODULE = "studies.experiment.worker_process"

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
"""Linear algebra takes one thread, on every machine: the number changes times and the last bits of sums."""

LAST_BYTES, LAST_LETTERS = 4096, 300
"""What is read, and what is kept, of what a worker printed before it died."""


class WorkerEndedError(Exception):
    """The process is gone, or says what it should not."""


class WorkerConnection:
    """A new worker process and what goes to and fro.

    `address_space_gib` limits the address space of the process; None is no limit.
    """

    def __init__(self, address_space_gib: float | None) -> None:
        arguments = [] if address_space_gib is None else [str(address_space_gib)]
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", WORKER_MODULE, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._printed,
            env={**os.environ, **ONE_THREAD},
            start_new_session=True,  # Ctrl-C on the terminal is the parent's; and a group that can be killed as one
        )
        self._messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def send(self, message: object) -> None:
        """Write a message; raises a `WorkerEndedError` if nobody reads it."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(pickle.dumps(message))
            self._process.stdin.flush()
        except OSError as error:
            raise WorkerEndedError from error

    def receive(self, seconds: float | None) -> tuple[str, Any] | None:
        """Return the next message, None where there is none in time.

        Raises a `WorkerEndedError` if there will be none any more.
        """
        try:
            message = self._messages.get(timeout=seconds)
        except queue.Empty:
            return None
        if message is None:
            raise WorkerEndedError
        kind, content = message
        return kind, content

    def _listen(self) -> None:
        """Read messages until the process ends: a thread of its own can be left waiting, half a message or not."""
        assert self._process.stdout is not None
        with contextlib.suppress(Exception):  # whatever comes that is no message
            while True:
                self._messages.put(pickle.load(self._process.stdout))
        self._messages.put(None)
        self._process.stdout.close()

    def kill(self) -> None:
        """Kill the process and all that it started."""
        kill_tree(self._process.pid)

    def close(self) -> str:
        """Kill and reap the process; return how it ended and its last words."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        self.kill()
        status = self._process.wait()
        self._printed.seek(0, os.SEEK_END)
        self._printed.seek(max(0, self._printed.tell() - LAST_BYTES))
        words = self._printed.read().decode(errors="replace")
        self._printed.close()
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return f"{how}. {' '.join(words.split())[-LAST_LETTERS:]}"


PROC = Path("/proc")

CAN_WATCH = (PROC / "self" / "statm").exists()
"""Whether this system tells what a process holds; Linux does."""


def process_tree(pid: int) -> list[int]:
    """Return a process and all its descendants; only itself where the system does not tell."""
    found = [pid]
    for parent in found:  # grows while it is walked
        with contextlib.suppress(OSError):
            for thread in os.listdir(PROC / str(parent) / "task"):
                with contextlib.suppress(OSError):
                    text = (PROC / str(parent) / "task" / thread / "children").read_text()
                    found += [int(word) for word in text.split()]
    return found


def physical_bytes(pid: int) -> int:
    """Return the physical memory that one process holds, 0 where it is gone or the system does not tell."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def tree_bytes(pid: int, enough: int) -> int:
    """Return the physical memory that a process and its descendants hold together.

    Parameters
    ----------
    pid
        Process at the root of the tree.
    enough
        Up to this number of bytes a sum that counts shared pages once per process is enough: it is an upper bound;
        above it, and with descendants, every process counts its share of the pages it shares, which takes longer.
    """
    tree = process_tree(pid)
    total = sum(physical_bytes(member) for member in tree)
    if total <= enough or len(tree) == 1:
        return total
    return sum(_proportional_bytes(member) for member in tree)


def _proportional_bytes(pid: int) -> int:
    """Return the physical memory of a process, shared pages divided by those who share them."""
    try:
        text = (PROC / str(pid) / "smaps_rollup").read_text()
    except OSError:
        return physical_bytes(pid)
    for line in text.splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return physical_bytes(pid)


def kill_tree(pid: int) -> None:
    """Kill a process, its descendants and its process group, which nothing can ignore.

    It must lead a group of its own and must not have been waited for: till then nobody else gets its number.
    """
    tree = process_tree(pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(pid, signal.SIGKILL)  # also those whose parent is gone already
    for member in tree:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(member, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
