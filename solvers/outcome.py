"""What an exact or improving method hands back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from solvers.status import Termination

ScheduleT = TypeVar("ScheduleT")
"""Schedules of the problem that was solved."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Outcome(Generic[ScheduleT]):
    """Schedule and bound of an exact back end, not yet verified.

    Parameters
    ----------
    schedule
        Best found, None without one.
    lower_bound
        Proven by the back end, None where it proved nothing.
    is_infeasible
        Whether it proved that no schedule exists.
    termination
        Why it ended.
    backend_seconds
        Time spent inside the solver itself.
    solver
        Solver and version behind the bound, None where no solver was asked.
    proof
        What proves the bound, in words, where that is not the method's own search.
    confirmed_by
        The second model that confirms the bound, None where none was asked or could.
    """

    schedule: ScheduleT | None
    lower_bound: int | None
    is_infeasible: bool = False
    termination: Termination = Termination.FINISHED
    backend_seconds: float = 0.0
    solver: str | None = None
    proof: str | None = None
    confirmed_by: str | None = None
