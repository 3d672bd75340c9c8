"""The state of a running study on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from studies.command_line.output import printable

if TYPE_CHECKING:
    from types import TracebackType

    from studies.experiment.study_state import StudyState


class StudyProgress:
    """A bar on stderr with runs done, running and failed and the time left, while it is entered; only on a terminal."""

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

    def update(self, state: StudyState) -> None:
        """Show how things stand."""
        done = state.finished + state.failed
        self._progress.update(self._task, description=progress_text(state), completed=done, total=state.planned)


def progress_text(state: StudyState) -> str:
    """Return what stands beside the bar."""
    parts = [f"{state.running} running"]
    if state.failed:
        parts.append(f"{state.failed} failed")
    if state.seconds_left is not None:
        parts.append(f"{duration_text(state.seconds_left)} left")
    return ", ".join([*parts, printable(state.doing)] if state.doing else parts)


def duration_text(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
