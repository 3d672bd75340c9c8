"""A bar for many runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from studies.command_line.output import printable

if TYPE_CHECKING:
    from types import TracebackType


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
