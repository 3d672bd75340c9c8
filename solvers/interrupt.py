"""Ctrl-C as a stop criterion: the best schedule so far is kept."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import FrameType, TracebackType

    from heuristics.progress import Progress


class Interrupt:
    """Hears the first Ctrl-C while it is entered and remembers it; the second one ends the process as usual.

    Outside the main thread, where Python delivers no signals, it hears nothing.
    """

    def __init__(self) -> None:
        self.heard = False
        self._previous: Any = None
        self._listens = False

    def __enter__(self) -> Self:
        """Listen."""
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._hear)
            self._listens = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop listening."""
        if self._listens:
            signal.signal(signal.SIGINT, signal.SIG_DFL if self._previous is None else self._previous)

    def __call__(self, progress: Progress) -> bool:
        """Return True once Ctrl-C was heard."""
        return self.heard

    def share(self, progress: Progress) -> float:
        """Return 0: an interrupt is no budget."""
        return 0.0

    def _hear(self, number: int, frame: FrameType | None) -> None:
        """Remember the first signal, pass the second one on."""
        if self.heard:
            raise KeyboardInterrupt
        self.heard = True
