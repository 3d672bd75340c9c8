"""A worker process, seen from outside: ask, wait, and kill where it overruns its limits."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from studies.experiment.process_tree import CAN_WATCH, resident_bytes, tree_bytes
from studies.experiment.run_answer import RunAnswer
from studies.experiment.run_limit import RunLimit
from studies.experiment.worker_connection import WorkerConnection, WorkerEndedError

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

        Raises
        ------
        WorkerStartError
            If the process ends before it is ready for its first run.
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
        self._begin_bytes = resident_bytes(connection.pid)
        return connection

    def _hear(self, connection: WorkerConnection, kind: str, limit: RunLimit) -> Any:
        """Return the content of the next message, which must be of that kind."""
        begin = time.monotonic()
        is_limited = limit.seconds is not None or limit.memory_gib is not None
        while (message := connection.receive(LOOK_SECONDS if is_limited else None)) is None:
            if limit.seconds is not None and time.monotonic() - begin > limit.seconds:
                raise _LimitError(f"TimeLimit: the run was killed after its limit of {limit.seconds:g} s.")
            if limit.memory_gib is not None:
                held = tree_bytes(connection.pid, int(limit.memory_gib * GIB)) / GIB
                if held > limit.memory_gib:
                    amounts = f"its limit of {limit.memory_gib:g} GiB, it held {held:.3g} GiB"
                    raise _LimitError(f"MemoryLimit: the run was killed at {amounts}.")
        found, content = message
        if found != kind:
            raise WorkerEndedError
        return content

    def _retire_where_it_hoards(self, limit: RunLimit) -> None:
        """End a process that keeps more than half its room after a run: the next one shall not pay for that."""
        if limit.memory_gib is None or self._connection is None:
            return
        room = limit.memory_gib * GIB - self._begin_bytes
        if resident_bytes(self._connection.pid) - self._begin_bytes > room / 2:
            self._bury()

    def _bury(self) -> str:
        """End the process, make room for the next one, and return how it ended."""
        with self._lock:
            connection, self._connection = self._connection, None
        return "" if connection is None else connection.close()


def _warm_up_limit(order: RunOrder, limit: RunLimit) -> RunLimit:
    """Return what the warm-up before a run may take."""
    seconds = WARM_UP_SECONDS
    if ":" in order.method and limit.seconds is not None:
        seconds = min(seconds, max(LEAST_WARM_UP_SECONDS, WARM_UP_FACTOR * limit.seconds))
    return RunLimit(seconds=seconds, memory_gib=limit.memory_gib)


class _LimitError(Exception):
    """A run overran a limit; the text says which."""
