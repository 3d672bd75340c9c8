"""What a running method reports to stop criteria and callbacks, and the hooks of a callback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """State of a run.

    Parameters
    ----------
    evaluations
        Complete schedules built so far.
    seconds
        Since the run began.
    objective
        Of the best schedule so far, None before the first one that keeps the memory limits.
    lower_bound
        Proven so far, None where the method proves nothing.
    improved_at
        Evaluations at the last improvement.
    """

    evaluations: int = 0
    seconds: float = 0.0
    objective: int | None = None
    lower_bound: int | None = None
    improved_at: int = 0


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
