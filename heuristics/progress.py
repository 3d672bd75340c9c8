"""What a running method tells stop criteria and callbacks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """State of a run.

    Parameters
    ----------
    evaluations
        Complete schedules built so far.
    seconds
        Since the run began.
    objective
        Of the best schedule so far, None before the first one that keeps the memory limits.
    lower_bound
        Proven so far, None where the method proves nothing.
    improved_at
        Evaluations at the last improvement.
    """

    evaluations: int = 0
    seconds: float = 0.0
    objective: int | None = None
    lower_bound: int | None = None
    improved_at: int = 0
