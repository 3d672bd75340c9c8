"""The pipes to a worker process."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
from typing import Any

from studies.experiment.process_tree import kill_tree

WORKER_MODULE = "studies.experiment.worker_process"

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
"""Linear algebra takes one thread, on every machine: the number changes times and the last bits of sums."""

LAST_BYTES, LAST_LETTERS = 4096, 300
"""What is read, and what is kept, of what a worker printed before it died."""


class WorkerEndedError(Exception):
    """The process is gone, or says what it should not."""


class WorkerConnection:
    """A new worker process and what goes to and fro.

    Parameters
    ----------
    address_space_gib
        Limit of its address space, None for none.
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
        """Write a message.

        Raises
        ------
        WorkerEndedError
            If nobody reads it.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(pickle.dumps(message))
            self._process.stdin.flush()
        except OSError as error:
            raise WorkerEndedError from error

    def receive(self, seconds: float | None) -> tuple[str, Any] | None:
        """Return the next message, None where there is none in time.

        Raises
        ------
        WorkerEndedError
            If there will be none any more.
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
