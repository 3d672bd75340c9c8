"""Several criteria at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heuristics.progress import Progress
    from heuristics.stop.stop_criterion import StopCriterion


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Stops when the first of several criteria does."""

    criteria: Sequence[StopCriterion]

    def __call__(self, progress: Progress) -> bool:
        """Return True when any criterion does."""
        return any(criterion(progress) for criterion in self.criteria)

    def share(self, progress: Progress) -> float:
        """Return the largest used share."""
        return max((criterion.share(progress) for criterion in self.criteria), default=0.0)
