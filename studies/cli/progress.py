"""The state of a long run, of a long replay, and of many runs on the terminal."""

from __future__ import annotations

import shutil
import sys
import threading
from typing import TYPE_CHECKING, Any, ClassVar, Self

from heuristics.search.clock import Stopwatch
from heuristics.search.progress import Callback
from instances.compilation import COMPILATION
from solvers.table import printable
from studies.cli.output import before_answers, note

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from rich.live import Live
    from rich.progress import Progress, Task
    from rich.text import Text

    from heuristics.search.progress import Progress as SearchProgress


DELAY_SECONDS = 1.0
"""Runs that end sooner show nothing."""

BAR_WIDTH = 20
"""Width of bars in characters."""


QUIET_SECONDS, LONGEST_SILENCE = 2.0, 60.0
"""Where stderr is no terminal, it is told what goes on after the first, then twice as late each time up to the last."""


class Display:
    """Shows on a terminal, or tells any other stderr now and then, what goes on while it is entered.

    One that is entered within another takes its place until it ends.
    """

    _entered: ClassVar[list[Display]] = []

    def __init__(self) -> None:
        self._watch = Stopwatch()
        self._is_over = threading.Event()
        self._speaker: threading.Thread | None = None
        self._say: Callable[[int, float, bool], None] | None = None

    def line(self) -> str:
        """Return the state as text."""
        raise NotImplementedError

    def _draw(self) -> None:
        """Begin to show the state on a terminal."""
        raise NotImplementedError

    def _wipe(self) -> None:
        """Wipe it."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        """Begin, after a while."""
        if self._entered:
            self._entered[-1].hide()
        self._entered.append(self)
        self._show()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End, and leave nothing on a terminal."""
        self.hide()
        if self in self._entered:
            self._entered.remove(self)
        if self._entered:
            self._entered[-1]._show()  # noqa: SLF001  # of the same class

    def hide(self) -> None:
        """Stop to show and to tell anything."""
        self._is_over.set()
        if self._speaker is not None:
            self._speaker.join()
            self._speaker = None
        if self._say is not None:
            COMPILATION.say, self._say = self._say, None
        self._wipe()

    def _show(self) -> None:
        """Begin, or go on."""
        self._is_over = threading.Event()
        if sys.stderr.isatty():
            self._say, COMPILATION.say = COMPILATION.say, None  # this display says it
            self._draw()
        else:
            self._speaker = threading.Thread(target=self._tell, args=(self._is_over,), daemon=True)
            self._speaker.start()

    def _tell(self, is_over: threading.Event) -> None:
        """Write the state from time to time."""
        wait = QUIET_SECONDS
        while not is_over.wait(wait):
            note(self.line())
            wait = min(2 * wait, LONGEST_SILENCE)


class LiveProgress(Display, Callback):
    """A line on stderr with incumbent, bound, gap and time, while it is entered.

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
        super().__init__()
        self.doing = doing
        self.then: str | None = None
        self.is_search = is_search
        self.lower_bound = lower_bound
        self._objective: int | None = None
        self._started: tuple[int, int] | None = None  # jobs, and how many there are in all
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._live: Live | None = None

    def on_incumbent(self, progress: SearchProgress) -> None:
        """Remember the objective."""
        self._objective = progress.objective

    def on_bound(self, progress: SearchProgress) -> None:
        """Remember the bound."""
        if progress.lower_bound is not None:
            self.lower_bound = max(progress.lower_bound, self.lower_bound or 0)

    def on_round(self, row: Mapping[str, float | None]) -> None:
        """Remember how many jobs a policy has started."""
        started, of_all = row.get("jobs_started"), row.get("num_jobs")
        if started is not None and of_all:
            self._started = int(started), int(of_all)

    def on_end(self, progress: SearchProgress) -> None:
        """Show what follows."""
        self.doing = self.then or self.doing

    @property
    def elapsed(self) -> float:
        """Seconds since it was made."""
        return self._watch.seconds

    def line(self) -> str:
        """Return the state as text."""
        if compiling := COMPILATION.text():
            return compiling
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

    def _draw(self) -> None:
        """Wait before the line is shown."""
        self._timer = threading.Timer(DELAY_SECONDS, self._begin)
        self._timer.daemon = True
        self._timer.start()

    def _begin(self) -> None:
        """Begin to show the line."""
        from rich.console import Console
        from rich.live import Live

        live = Live(
            console=Console(stderr=True),
            get_renderable=self._text,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
        )
        with self._lock:
            if not self._is_over.is_set():
                self._live = live
                live.start()

    def _wipe(self) -> None:
        """Wipe the line."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            if self._live is not None:
                self._live.stop()
                self._live = None

    def _text(self) -> Text:
        """Return the line for Rich, cut to the terminal."""
        from rich.text import Text

        return Text(self.line(), no_wrap=True, overflow="ellipsis")


class CommandProgress(LiveProgress):
    """A line on stderr with the name of a command that shows nothing else, until it prints its answer."""

    def __init__(self, name: str) -> None:
        super().__init__(name, is_search=False)

    def __enter__(self) -> Self:
        """Begin; what the command prints ends it."""
        before_answers.append(self.hide)
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End."""
        before_answers.remove(self.hide)
        super().__exit__(kind, error, traceback)


class RunProgress(Display):
    """A bar on stderr with what is going on, while it is entered; a line from time to time where it is no terminal."""

    def __init__(self) -> None:
        super().__init__()
        self._doing, self._done, self._total = "", 0, 0
        self._bar: Progress | None = None
        self._task: Any = None

    def line(self) -> str:
        """Return the state as text."""
        done = f"{self._done} of {self._total}" if self._total else ""
        return "  ".join(filter(None, (f"{self._watch.seconds:6.1f} s", done, COMPILATION.text() or self._doing)))

    def update(self, doing: str, done: int, total: int) -> None:
        """Show what is going on."""
        self._doing, self._done, self._total = printable(doing), done, total
        if self._bar is not None:
            room = max(shutil.get_terminal_size().columns - 2 * BAR_WIDTH, BAR_WIDTH)  # beside time, bar and numbers
            self._bar.update(self._task, description=self._doing[:room], completed=done, total=total)

    def _draw(self) -> None:
        """Show the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.text import Text

        class Doing(TextColumn):
            """What is going on, or that kernels are compiled."""

            def render(self, task: Task) -> Text:
                """Return the text for Rich."""
                return Text(COMPILATION.text() or task.description)

        self._bar = Progress(
            TimeElapsedColumn(),
            BarColumn(bar_width=BAR_WIDTH),
            MofNCompleteColumn(),
            Doing("{task.description}"),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
        )
        self._task = self._bar.add_task(self._doing, completed=self._done, total=self._total or None)
        self._bar.start()

    def _wipe(self) -> None:
        """Wipe the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
