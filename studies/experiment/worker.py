"""A worker process, seen from outside: ask, wait, and kill where it overruns its limit."""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
import tempfile
import threading
from typing import TYPE_CHECKING, Any

from studies.experiment.run_answer import RunAnswer

if TYPE_CHECKING:
    from studies.experiment.execute_run import RunOrder

WARM_UP_SECONDS = 900.0
"""Time to load and to compile everything that a method needs."""

LAST_WORDS = 300
"""Letters that are kept of what a worker printed before it died."""


class Worker:
    """One worker process, started when it is first needed and again after it died; used by one thread at a time.

    Parameters
    ----------
    memory_gib
        Limit of its address space, None for none.
    """

    def __init__(self, memory_gib: float | None) -> None:
        self._memory_gib = memory_gib
        self._process: subprocess.Popen[bytes] | None = None
        self._printed: Any = None
        self._is_overdue = False
        self._is_stopped = False
        self._lock = threading.Lock()
        self.environment: str | None = None

    def run(self, order: RunOrder, limit_seconds: float | None) -> RunAnswer:
        """Return the answer to an order; where the process dies or overruns its limit, one that says so.

        Parameters
        ----------
        order
            What is to be done.
        limit_seconds
            Wall time after which the process is killed, counted from the end of the warm-up; None for no limit.
        """
        self._is_overdue = False
        try:
            process = self._started()
            assert process.stdin is not None
            pickle.dump(order, process.stdin)
            process.stdin.flush()
            self._hear("began", WARM_UP_SECONDS)
            answer = self._hear("answer", limit_seconds)
        except (EOFError, OSError, pickle.UnpicklingError):
            return self._post_mortem(limit_seconds)
        assert isinstance(answer, RunAnswer)
        return answer

    def stop(self) -> None:
        """Kill the process, also in the middle of a run; the worker cannot be used after it."""
        with self._lock:
            self._is_stopped = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """Kill and forget the process."""
        self.stop()
        self._bury()

    def _started(self) -> subprocess.Popen[bytes]:
        """Return the process, started where there is none."""
        if self._process is not None:
            return self._process
        arguments = [] if self._memory_gib is None else [str(self._memory_gib)]
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        with self._lock:
            if self._is_stopped:
                raise EOFError
            self._process = subprocess.Popen(
                [sys.executable, "-m", "studies.experiment.worker_process", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._printed,
                start_new_session=True,  # Ctrl-C on the terminal is the parent's
            )
        self.environment = self._hear("environment", WARM_UP_SECONDS)
        return self._process

    def _hear(self, kind: str, limit_seconds: float | None) -> Any:
        """Return the content of the next message, which must be of that kind."""
        assert self._process is not None
        assert self._process.stdout is not None
        timer = None if limit_seconds is None else threading.Timer(limit_seconds, self._kill_as_overdue)
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            found, content = pickle.load(self._process.stdout)
        finally:
            if timer is not None:
                timer.cancel()
        if found != kind:
            raise pickle.UnpicklingError(f"worker: expected {kind}, got {found}.")
        return content

    def _kill_as_overdue(self) -> None:
        """Kill the process because its time is over."""
        self._is_overdue = True
        if self._process is not None:
            self._process.kill()

    def _post_mortem(self, limit_seconds: float | None) -> RunAnswer:
        """Say how the process ended, and make room for the next one."""
        if self._is_stopped:
            self._bury()
            return RunAnswer(is_interrupted=True)
        status, words = self._bury()
        if self._is_overdue:
            return RunAnswer(error=f"TimeLimit: the run was killed after its limit of {limit_seconds or 0:g} s.")
        how = f"signal {-status}" if status is not None and status < 0 else f"status {status}"
        return RunAnswer(error=f"WorkerDied: the process of the run ended with {how}. {words}".rstrip())

    def _bury(self) -> tuple[int | None, str]:
        """Reap the process; return its status and its last words."""
        process, self._process = self._process, None
        if process is None:
            return None, ""
        process.kill()
        status = process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self._printed.seek(0)
        words = self._printed.read().decode(errors="replace")
        self._printed.close()
        return status, " ".join(words.split())[-LAST_WORDS:]
