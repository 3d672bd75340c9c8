"""How long this process has compiled kernels, which no clock counts, and the line that says so while it lasts.

Numba compiles a kernel when it is first called after an installation, and keeps it on disk (`instances.kernels`). This
module knows the seconds without importing Numba, which takes half a second.
"""

from __future__ import annotations

import sys
import time
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE_SECONDS = 0.5
"""While all compilations together are shorter, nobody is told."""

TEXT = "Compiling kernels for this machine, once per installation"
"""How every line about compilation begins."""


def print_progress(functions: int, seconds: float, is_over: bool) -> None:
    """Say on stderr that kernels are compiled: on a terminal in one line that counts, else once."""
    if sys.stderr is None or sys.stderr.closed:
        return
    try:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{TEXT}: {functions} functions, {seconds:.0f} s{chr(10) if is_over else ''}")
        elif not COMPILATION.has_been_said:
            sys.stderr.write(f"{TEXT} ...\n")
        sys.stderr.flush()
    except OSError:  # a full disk or a closed pipe must not end the run
        pass


def warn_not_kept(reason: str) -> None:
    """Warn that compiled kernels cannot be kept on disk."""
    advice = "NUMBA_CACHE_DIR can name a folder that can be written"
    text = f"Compiled kernels cannot be kept, so every process compiles them anew ({reason}); {advice}."
    warnings.warn(text, RuntimeWarning, stacklevel=2)


class Compilation:
    """Counts what this process compiles; kernels report when they begin and end.

    Attributes
    ----------
    functions
        How many functions have been compiled.
    has_been_said
        Whether the user knows.
    is_kept
        Whether nothing has been met so far that cannot be kept on disk.
    is_timed
        Whether run times are measured here, so that only machine code may run.
    say
        Receives functions, seconds and whether the compilation is over, when there is something to say; None for
        silence.
    say_not_kept
        Receives, once, the reason why kernels cannot be kept.
    workers
        When workers of this process began to compile what they compile now, by process.
    watch
        Receives True when the seconds of compilation begin to count, and False when they end.
    """

    def __init__(self) -> None:
        self.functions = 0
        self.has_been_said = False
        self.is_kept = True
        self.is_timed = False
        self.say: Callable[[int, float, bool], None] | None = print_progress
        self.say_not_kept: Callable[[str], None] = warn_not_kept
        self.workers: dict[int, float] = {}
        self.watch: Callable[[bool], None] = lambda is_running: None
        self._depth = 0
        self._state: tuple[float, float | None] = (0.0, None)  # seconds so far, begin; one value, for other threads

    @property
    def is_running(self) -> bool:
        """Whether something is being compiled."""
        return self._depth > 0

    @property
    def seconds(self) -> float:
        """Seconds of compilation in this process, the present one included."""
        finished, begin = self._state
        return finished if begin is None else finished + time.perf_counter() - begin

    def text(self) -> str | None:
        """Return what a display shows while kernels are compiled, here or by a worker; None if they are not."""
        now = time.perf_counter()
        if self.is_running and self.functions and self.seconds >= PATIENCE_SECONDS:
            return f"{TEXT}: {self.functions} functions, {self.seconds:.0f} s"
        since = min(self.workers.values(), default=now)
        return f"{TEXT}: {now - since:.0f} s" if now - since >= PATIENCE_SECONDS else None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the seconds inside, once where one compilation needs another one."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    def begin(self) -> None:
        """Begin to count."""
        if self._depth == 0:
            self._state = (self._state[0], time.perf_counter())
            self.watch(True)
        self._depth += 1

    def end(self) -> None:
        """Count no longer, unless a compilation goes on that this one was a part of."""
        self._depth -= 1
        if self._depth == 0:
            self._state = (self.seconds, None)
            self.watch(False)

    def note_function(self) -> None:
        """Note that one more function is compiled, and tell the user after a while."""
        self.functions += 1
        if self.say is not None and self.seconds >= PATIENCE_SECONDS:
            self.say(self.functions, self.seconds, self._depth == 0)
            self.has_been_said = True

    def note_not_kept(self, reason: str) -> None:
        """Note that a kernel cannot be kept, and tell the user the first time."""
        if self.is_kept:
            self.is_kept = False
            self.say_not_kept(reason)


COMPILATION = Compilation()
"""What this process compiles."""
