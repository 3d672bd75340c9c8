"""Stopping where the schedule is good enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heuristics.progress import Progress


@dataclass(frozen=True, slots=True)
class TargetObjective:
    """Stops once the objective is at most a target, such as a proven lower bound."""

    target: int

    def __call__(self, progress: Progress) -> bool:
        """Return True when the target is reached."""
        return progress.objective is not None and progress.objective <= self.target

    def share(self, progress: Progress) -> float:
        """Return 0: a target is no budget."""
        return 0.0
