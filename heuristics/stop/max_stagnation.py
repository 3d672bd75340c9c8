"""Stopping where nothing becomes better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heuristics.progress import Progress


@dataclass(frozen=True, slots=True)
class MaxStagnation:
    """Stops after a number of evaluations without improvement.

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
        """Return True when the last improvement is too long ago."""
        return progress.evaluations - progress.improved_at >= self.evaluations

    def share(self, progress: Progress) -> float:
        """Return 0: nobody knows how long such a run will take."""
        return 0.0
