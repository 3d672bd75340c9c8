"""What a running method reports to stop criteria and callbacks, and the hooks of a callback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """State of a run."""

    evaluations: int = 0  # complete schedules built so far
    seconds: float = 0.0  # since the run began
    objective: int | None = None  # of the best schedule so far; None before the first within the memory limits
    lower_bound: int | None = None  # proven so far; None where the method proves nothing
    improved_at: int = 0  # number of evaluations at the last improvement


class Callback:
    """Empty hooks; override those you need. A callback may watch and stop a run, but not change its search.

    Examples
    --------
    >>> import optgap
    >>> class Printed(optgap.Callback):
    ...     def on_incumbent(self, progress):
    ...         print("objective", progress.objective)
    >>> instance = optgap.from_lists([[4, 5], [3, 3]], [(0, 1, 0)])
    >>> result = optgap.solve(instance, "ga", stop=optgap.MaxEvaluations(20), callback=Printed())
    objective 7
    """

    wants_stop: bool = False
    """Set it to True to stop the run at its next step; the result then holds the best schedule so far."""

    def on_start(self) -> None:
        """Receive the beginning of a run."""

    def on_evaluation(self, progress: Progress) -> None:
        """Receive every evaluated schedule."""

    def on_incumbent(self, progress: Progress) -> None:
        """Receive every improvement of the best schedule."""

    def on_round(self, row: Mapping[str, float | None]) -> None:
        """Receive every evaluated population; the columns of the row are those of `RoundLog`."""

    def on_bound(self, progress: Progress) -> None:
        """Receive every improvement of the lower bound."""

    def on_end(self, progress: Progress) -> None:
        """Receive the end of the run."""
