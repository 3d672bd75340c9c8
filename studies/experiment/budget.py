"""What a search may spend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heuristics.stop.any_of import AnyOf
from heuristics.stop.max_evaluations import MaxEvaluations
from heuristics.stop.max_seconds import MaxSeconds

if TYPE_CHECKING:
    from heuristics.stop.stop_criterion import StopCriterion

NO_BUDGET = "-"
"""Text of the budget of what has none: constructions and bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Evaluations, seconds or both, whichever ends first; neither for what builds one schedule.

    Parameters
    ----------
    evaluations
        Complete schedules that may be built, None for any number.
    seconds
        Wall time of the method, None for any.
    """

    evaluations: int | None = None
    seconds: float | None = None

    def __str__(self) -> str:
        """Return the text that tables show, such as ``2000 evaluations`` or ``1 s``."""
        parts = [] if self.evaluations is None else [f"{self.evaluations} evaluations"]
        parts += [] if self.seconds is None else [f"{self.seconds:g} s"]
        return ", ".join(parts) or NO_BUDGET

    def stop(self) -> StopCriterion:
        """Return the stop criterion of a search.

        Raises
        ------
        ValueError
            If there is no budget.
        """
        criteria: list[StopCriterion] = [] if self.evaluations is None else [MaxEvaluations(self.evaluations)]
        criteria += [] if self.seconds is None else [MaxSeconds(self.seconds)]
        if not criteria:
            raise ValueError("budget: expected evaluations or seconds for a search, got neither.")
        return criteria[0] if len(criteria) == 1 else AnyOf(criteria)
