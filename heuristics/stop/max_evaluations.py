"""A budget in evaluations: runs can be repeated bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heuristics.progress import Progress


@dataclass(frozen=True, slots=True)
class MaxEvaluations:
    """Stops after a number of complete schedules.

    Raises
    ------
    ValueError
        If the number is below 1.
    """

    evaluations: int

    def __post_init__(self) -> None:
        """Check the number."""
        if self.evaluations < 1:
            raise ValueError(f"evaluations: expected at least 1, got {self.evaluations}.")

    def __call__(self, progress: Progress) -> bool:
        """Return True when the budget is used."""
        return progress.evaluations >= self.evaluations

    def share(self, progress: Progress) -> float:
        """Return the used share of the budget."""
        return min(1.0, progress.evaluations / self.evaluations)
