"""The state of a long run on the terminal."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Self

from heuristics.callback import Callback
from heuristics.stopwatch import Stopwatch

if TYPE_CHECKING:
    from types import TracebackType

    from rich.live import Live
    from rich.text import Text

    from heuristics.progress import Progress

DELAY_SECONDS = 1.0
"""Runs that end sooner show nothing."""


class LiveProgress(Callback):
    """A line on stderr with incumbent, bound, gap and time, while it is entered; only on a terminal.

    Parameters
    ----------
    doing
        What is going on; may be changed.
    lower_bound
        What is proven before the run, None for nothing; may be changed.
    is_search
        Whether there will be incumbents and bounds to show.

    Attributes
    ----------
    then
        What goes on after the end of the search, None for nothing.
    """

    def __init__(self, doing: str, lower_bound: int | None = None, *, is_search: bool = True) -> None:
        self.doing = doing
        self.then: str | None = None
        self.is_search = is_search
        self.lower_bound = lower_bound
        self._objective: int | None = None
        self._watch = Stopwatch()
        self._timer = threading.Timer(DELAY_SECONDS, self._show)
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._live: Live | None = None
        self._is_over = False

    def __enter__(self) -> Self:
        """Wait before anything is shown."""
        if sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Wipe the line."""
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._live is not None:
                self._live.stop()

    def on_incumbent(self, progress: Progress) -> None:
        """Remember the objective."""
        self._objective = progress.objective

    def on_bound(self, progress: Progress) -> None:
        """Remember the bound."""
        if progress.lower_bound is not None:
            self.lower_bound = max(progress.lower_bound, self.lower_bound or 0)

    def on_end(self, progress: Progress) -> None:
        """Show what follows."""
        self.doing = self.then or self.doing

    @property
    def elapsed(self) -> float:
        """Seconds since it was made."""
        return self._watch.seconds

    def line(self) -> str:
        """Return the state as text."""
        objective, bound = self._objective, self.lower_bound
        parts = [f"{self._watch.seconds:6.1f} s", self.doing]
        if not self.is_search:
            return "  ".join(parts)
        parts.append(f"incumbent {'none' if objective is None else objective}")
        parts.append(f"bound {'none' if bound is None else bound}")
        if objective is not None and bound:
            parts.append(f"gap {100 * (objective - bound) / bound:.2f} %")
        return "  ".join(parts)

    def _show(self) -> None:
        """Begin to show the line."""
        from rich.console import Console
        from rich.live import Live

        live = Live(console=Console(stderr=True), get_renderable=self._text, refresh_per_second=4, transient=True)
        with self._lock:
            if not self._is_over:
                self._live = live
                live.start()

    def _text(self) -> Text:
        """Return the line for Rich, cut to the terminal."""
        from rich.text import Text

        return Text(self.line(), no_wrap=True, overflow="ellipsis")
