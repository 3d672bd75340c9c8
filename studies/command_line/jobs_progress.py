"""The state of a long replay of jobs, or of an exact method on them, on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.command_line.live_progress import LiveProgress

if TYPE_CHECKING:
    from collections.abc import Mapping

BAR_WIDTH = 20
"""In characters."""


class JobsProgress(LiveProgress):
    """As `LiveProgress`, with a bar of the jobs that have started while a policy is replayed."""

    def __init__(self, doing: str, lower_bound: int | None = None) -> None:
        super().__init__(doing, lower_bound)
        self._started: tuple[int, int] | None = None

    def on_round(self, row: Mapping[str, float | None]) -> None:
        """Remember how many jobs have started."""
        started, of_all = row.get("jobs_started"), row.get("num_jobs")
        if started is not None and of_all:
            self._started = int(started), int(of_all)

    def line(self) -> str:
        """Return the state as text."""
        if self._started is None:
            return super().line()
        started, of_all = self._started
        filled = BAR_WIDTH * started // of_all
        bar = "\N{BOX DRAWINGS HEAVY HORIZONTAL}" * filled + "\N{BOX DRAWINGS LIGHT HORIZONTAL}" * (BAR_WIDTH - filled)
        return f"{self.elapsed:6.1f} s  {self.doing}  {bar}  {started}/{of_all} jobs"
