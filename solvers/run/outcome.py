"""What is known after a run, why it ended, and what an exact or improving method hands back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar


class Status(StrEnum):
    """What is known."""

    OPTIMAL = "optimal"
    """There is a verified schedule, and its objective equals a proven lower bound."""
    FEASIBLE = "feasible"
    """There is a verified schedule."""
    INFEASIBLE = "infeasible"
    """There is a proof that no schedule exists."""
    UNKNOWN = "unknown"
    """There is neither."""


class Termination(StrEnum):
    """Why a run ended."""

    FINISHED = "finished"
    """The method had nothing left to do, or a criterion that is no budget was met."""
    TIME_LIMIT = "time_limit"
    EVALUATIONS = "evaluations"
    """The budget of evaluations, or of iterations, was used."""
    INTERRUPTED = "interrupted"
    """By Ctrl-C or a callback."""
    FAILED = "failed"
    """The back end gave up."""


ScheduleT = TypeVar("ScheduleT")
"""Schedules of the problem that was solved."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Outcome(Generic[ScheduleT]):
    """Schedule and bound of an exact back end, not yet verified.

    Parameters
    ----------
    schedule
        The best schedule found; None for none.
    lower_bound
        Bound that the back end proved; None for none.
    is_infeasible
        Whether it proved that no schedule exists.
    solver
        Solver and version behind the bound, None where no solver was asked.
    proof
        What proves the bound, in words, where that is not the method's own search.
    confirmed_by
        The second model that confirms the bound, None where none was asked or could.
    failure
        Why the back end gave up; None where it did not.

    Raises
    ------
    ValueError
        If a run that failed does not say why, or another one does.
    """

    schedule: ScheduleT | None
    lower_bound: int | None
    is_infeasible: bool = False
    termination: Termination = Termination.FINISHED
    backend_seconds: float = 0.0
    solver: str | None = None
    proof: str | None = None
    confirmed_by: str | None = None
    failure: str | None = None

    def __post_init__(self) -> None:
        """Check that there is a reason exactly where the run failed."""
        if (self.termination is Termination.FAILED) != (self.failure is not None):
            raise ValueError(f"failure: expected a reason where a run failed and only there, got {self.failure!r}.")
