"""When a search stops: small callables on evaluations, seconds, stagnation or a target, and their combination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from heuristics.search.settings import require_at_least

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heuristics.search.progress import Progress


class StopCriterion(Protocol):
    """Says whether a method should stop and which share of its budget is used."""

    def __call__(self, progress: Progress) -> bool:
        """Return True to stop."""

    def share(self, progress: Progress) -> float:
        """Return the used share of the budget in [0, 1]; 0 where the criterion is no budget."""


@dataclass(frozen=True, slots=True)
class MaxEvaluations:
    """Stops after a number of complete schedules; raises a `ValueError` if that is below 1.

    Examples
    --------
    >>> import optgap
    >>> instance = optgap.generate("layered", tasks=8, seed=1)
    >>> optgap.solve(instance, "ga", stop=optgap.MaxEvaluations(50)).trace[-1].evaluations <= 50
    True
    """

    evaluations: int

    def __post_init__(self) -> None:
        """Check the number."""
        require_at_least(1, evaluations=self.evaluations)

    def __call__(self, progress: Progress) -> bool:
        """Return True when the budget is used."""
        return progress.evaluations >= self.evaluations

    def share(self, progress: Progress) -> float:
        """Return the used share of the budget."""
        return min(1.0, progress.evaluations / self.evaluations)


@dataclass(frozen=True, slots=True)
class MaxSeconds:
    """Stops after a time since the run began; raises a `ValueError` if that is not positive.

    Examples
    --------
    >>> import optgap
    >>> instance = optgap.generate("layered", tasks=8, seed=1)
    >>> str(optgap.solve(instance, "ga", stop=optgap.MaxSeconds(0.05)).termination)
    'time_limit'
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


@dataclass(frozen=True, slots=True)
class MaxStagnation:
    """Stops after a number of evaluations without improvement; raises a `ValueError` if that is below 1."""

    evaluations: int

    def __post_init__(self) -> None:
        """Check the number."""
        require_at_least(1, evaluations=self.evaluations)

    def __call__(self, progress: Progress) -> bool:
        """Return True when the last improvement is too long ago."""
        return progress.evaluations - progress.improved_at >= self.evaluations

    def share(self, progress: Progress) -> float:
        """Return 0: the length of such a run is unknown."""
        return 0.0


@dataclass(frozen=True, slots=True)
class TargetObjective:
    """Stops when the objective is at most a target, such as a proven lower bound."""

    target: int

    def __call__(self, progress: Progress) -> bool:
        """Return True when the target is reached."""
        return progress.objective is not None and progress.objective <= self.target

    def share(self, progress: Progress) -> float:
        """Return 0: a target is no budget."""
        return 0.0


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
