"""Watching a run from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heuristics.progress import Progress


class Callback:
    """Empty hooks; override what you need. A callback may watch and stop a run, not change its search."""

    wants_stop: bool = False
    """Set it to True to stop the run at its next step; the result then holds the best so far."""

    def on_start(self) -> None:
        """Hear that a run begins."""

    def on_evaluation(self, progress: Progress) -> None:
        """Hear that one more schedule was built."""

    def on_incumbent(self, progress: Progress) -> None:
        """Hear that the best schedule became better."""

    def on_round(self, row: Mapping[str, float | None]) -> None:
        """Hear that a population was evaluated; the row is that of `RoundLog`."""

    def on_bound(self, progress: Progress) -> None:
        """Hear that the lower bound became better."""

    def on_end(self, progress: Progress) -> None:
        """Hear that the run has ended."""
