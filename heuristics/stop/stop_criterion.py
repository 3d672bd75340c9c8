"""The interface of stop criteria."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from heuristics.progress import Progress


class StopCriterion(Protocol):
    """Says whether a method should stop and which share of its budget is used."""

    def __call__(self, progress: Progress) -> bool:
        """Return True to stop."""

    def share(self, progress: Progress) -> float:
        """Return the used share of the budget in [0, 1]; 0 where the criterion is no budget."""
