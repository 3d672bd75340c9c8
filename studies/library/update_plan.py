"""What an update of the reference library runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from solvers.confirm import CONFIRM_SECONDS
from solvers.jobs.jobs_methods import JOBS_METHODS
from solvers.jobs.lower_bound_jobs import JOBS_BOUND_METHODS
from solvers.lower_bound import BOUND_METHODS
from solvers.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Sequence

BOUNDS = "bounds"
"""Stands for all bounds without search that are worth their time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatePlan:
    """What is run on every entry.

    Parameters
    ----------
    methods
        Names of methods and of bounds without search, in order, or `BOUNDS`; a name that one of the two problems does
        not know is left out there.
    time_limit
        Seconds for each method but constructions.
    threads, seed
        Of exact and improving methods; of everything random.
    evaluations
        Budget of searches, None for their time limit or default.
    confirm
        Whether a second model is asked about a proven optimum that nothing confirms yet.
    confirm_time_limit
        Seconds for that.
    """

    methods: Sequence[str]
    time_limit: float | None = None
    threads: int = 1
    seed: int = 0
    evaluations: int | None = None
    confirm: bool = False
    confirm_time_limit: float = CONFIRM_SECONDS

    def __post_init__(self) -> None:
        """Refuse names that neither problem knows."""
        known = (BOUNDS, *METHODS, *BOUND_METHODS, *JOBS_METHODS, *JOBS_BOUND_METHODS)
        for name in self.methods:
            if name not in known:
                raise ValueError(
                    f"methods: expected methods, bounds without search or {BOUNDS!r} for all of these, got {name!r}."
                )
