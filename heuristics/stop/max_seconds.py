"""A budget in seconds: what a user waits for; such runs cannot be repeated bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heuristics.progress import Progress


@dataclass(frozen=True, slots=True)
class MaxSeconds:
    """Stops after a time since the run began.

    Raises
    ------
    ValueError
        If the time is not positive.
    """

    seconds: float

    def __post_init__(self) -> None:
        """Check the time."""
        if not self.seconds > 0:
            raise ValueError(f"seconds: expected a positive number, got {self.seconds}.")

    def __call__(self, progress: Progress) -> bool:
        """Return True when the time is over."""
        return progress.seconds >= self.seconds

    def share(self, progress: Progress) -> float:
        """Return the used share of the time."""
        return min(1.0, progress.seconds / self.seconds)
