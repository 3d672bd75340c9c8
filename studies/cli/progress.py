"""The state of a long run, of a long replay, and of many runs on the terminal."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Self

from heuristics.search.clock import Stopwatch
from heuristics.search.progress import Callback
from solvers.table import printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from rich.live import Live
    from rich.text import Text

    from heuristics.search.progress import Progress


DELAY_SECONDS = 1.0
"""Runs that end sooner show nothing."""

BAR_WIDTH = 20
"""Width in characters of the bar of jobs that have started."""


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
        self._started: tuple[int, int] | None = None  # jobs, and how many there are in all
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

    def on_round(self, row: Mapping[str, float | None]) -> None:
        """Remember how many jobs a policy has started."""
        started, of_all = row.get("jobs_started"), row.get("num_jobs")
        if started is not None and of_all:
            self._started = int(started), int(of_all)

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
        if self._started is not None:
            started, of_all = self._started
            filled = BAR_WIDTH * started // of_all
            done, left = "\N{BOX DRAWINGS HEAVY HORIZONTAL}", "\N{BOX DRAWINGS LIGHT HORIZONTAL}"
            return "  ".join([*parts, done * filled + left * (BAR_WIDTH - filled), f"{started}/{of_all} jobs"])
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


class RunProgress:
    """A bar on stderr with what is going on, while it is entered; only on a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        self._progress = Progress(
            TimeElapsedColumn(),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=None)

    def __enter__(self) -> Self:
        """Show the bar."""
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Wipe the bar."""
        self._progress.stop()

    def update(self, doing: str, done: int, total: int) -> None:
        """Show what is going on."""
        self._progress.update(self._task, description=printable(doing), completed=done, total=total)
